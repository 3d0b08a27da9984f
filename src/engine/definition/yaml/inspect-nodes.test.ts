import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isAlias, isScalar, parseDocument, visit } from 'yaml';
import { inspectNodes } from './inspect-nodes.ts';

const parsed = (text: string) => parseDocument(text, { uniqueKeys: false });

/** What the library finds, in quadratic time. */
function libraryDuplicates(text: string): readonly number[] {
  return parseDocument(text, { prettyErrors: false })
    .errors.filter(({ code }) => code === 'DUPLICATE_KEY')
    .map(({ pos }) => pos[0]);
}

describe('definition/yaml/inspect-nodes', () => {
  for (const text of [
    'a: 1\nb: 2',
    'a: 1\na: 2\na: 3',
    'a: { b: 1, c: 2, b: 3 }\nd: [{ e: 1, e: 2 }]\na: 1',
    '"a": 1\na: 2\n\'a\': 3',
    '1: a\n"1": b\n0x1: c\n1.0: d',
    'null: 1\n~: 2\n: 3',
    '.nan: 1\n.nan: 2',
    '0: 1\n-0: 2',
    'true: 1\n"true": 2\nTrue: 3',
    '&x a: 1\n&y a: 2\n!!str a: 3',
    '? a\n: 1\n? a\n: 2\n? [a]\n: 3\n? [a]\n: 4',
    '&x a: 1\n*x : 2\n*x : 3',
  ]) {
    test(`the duplicate keys in ${JSON.stringify(text)} equal those that the library finds`, () => {
      assert.deepEqual(inspectNodes(parsed(text)).duplicateKeys, libraryDuplicates(text));
    });
  }

  test('an alias refers to the last preceding anchor of its name', () => {
    const document = parsed('- &a 1\n- *a\n- &a { b: &c [*c, *a] }\n- *a\n- *none\n- { &d k: *d }');
    const { targets } = inspectNodes(document);
    const names: string[] = [];
    visit(document, {
      Node(_key, node) {
        if (!isAlias(node)) return;
        assert.equal(targets.get(node), node.resolve(document));
        const target = targets.get(node);
        names.push(isScalar(target) ? String(target.value) : (target?.constructor.name ?? 'none'));
      },
    });
    assert.deepEqual(names, ['1', 'YAMLSeq', 'YAMLMap', 'YAMLMap', 'none', 'k']);
  });

  test('nodes are not visited again for each alias', () => {
    const document = parsed(`a: &a 1\nlist: [${'*a, '.repeat(1000)}]`);
    const [first] = (document.contents as unknown as { items: { value: object }[] }).items;
    assert.ok(first);
    let looks = 0;
    const anchored = first.value;
    Object.defineProperty(anchored, 'anchor', {
      get() {
        looks++;
        return 'a';
      },
    });
    assert.equal(inspectNodes(document).targets.size, 1000);
    assert.ok(looks <= 2, `${looks} looks`);
  });
});
