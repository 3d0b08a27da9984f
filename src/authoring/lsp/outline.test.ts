import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { operatorText } from '../../../test/support/lsp/marked-text.ts';
import { type OutlineItem, outline } from './outline.ts';
import { parseText } from './parsed-text.ts';

/** The names of an item and of its parts, on one line. */
function shapeOf({ name, detail, items }: OutlineItem): string {
  const title = detail === '' ? name : `${name}: ${detail}`;
  return items.length === 0 ? title : `${title} (${items.map(shapeOf).join(', ')})`;
}

function* withParts(items: readonly OutlineItem[]): Generator<OutlineItem> {
  for (const item of items) {
    yield item;
    yield* withParts(item.items);
  }
}

describe('lsp/outline', () => {
  test('lists the named parts of each document', () => {
    const text = `${operatorText('podset')}---\n${operatorText('tests/podset')}`;
    const [definition, tests] = outline(parseText(text)).map(shapeOf);
    assert.equal(
      definition,
      'podset: OperatorDefinition (vars (labels), reads (pods: Pod), children (deployment: Deployment), status (nodes, readyReplicas))',
    );
    assert.match(tests ?? '', /^podset: OperatorTest \(steps \(/);
  });

  test('lists the objects of a file with samples by their kind', () => {
    const text = `${operatorText('samples/podset')}---\nkind: Secret\n---\na: 1\n`;
    const names = outline(parseText(text, true)).map(shapeOf);
    assert.deepEqual(names, ['example: PodSet', 'Secret: Secret', 'Object']);
  });

  test('lists vars, reads, conditions, events and patches', () => {
    const names = ['database', 'tenant', 'virtual-machine', 'air-conditioner', 'config-copy'];
    const sections = names.flatMap((name) =>
      outline(parseText(operatorText(name))).flatMap(({ items }) => items.map((item) => item.name)),
    );
    for (const section of ['vars', 'reads', 'children', 'onDelete.children', 'status', 'events'])
      assert.ok(sections.includes(section), `${section} in ${sections.join(', ')}`);
  });

  test('names are inside of their parts, also in a text that is not finished', () => {
    const text = operatorText('database');
    for (const end of [text.length, text.indexOf('- id: pod'), text.indexOf('ordinals: "')]) {
      for (const { start, end: last, nameStart, nameEnd } of withParts(
        outline(parseText(text.slice(0, end))),
      ))
        assert.ok(start <= nameStart && nameStart <= nameEnd && nameEnd <= last);
    }
  });
});
