import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { type CoveragePoint, compile } from './index.ts';

const body = `  vars:
    size: "\${ spec.size ?? 1 }"
  children:
    - id: items
      when: "\${ spec.size > 0 }"
      forEach: "\${ spec.items ?? [] }"
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-\${ $item }" } }
  conditions:
    - { type: Big, status: "\${ vars.size > 5 }" }
`;

/** The plan of the body, and what is declared and reached. */
function recorded() {
  const declared: CoveragePoint[] = [];
  const reached: CoveragePoint[] = [];
  const [located] = definitionParser.parse(
    thingDefinition('thing', body),
    'thing.yaml',
  ).definitions;
  assert.ok(located);
  const { plan, diagnostics } = compile(located, undefined, {
    declare: (point) => void declared.push(point),
    reach: (point) => void reached.push(point),
  });
  assert.ok(plan, JSON.stringify(diagnostics));
  return { plan, declared, reached };
}

const kindsOf = (points: readonly CoveragePoint[]) =>
  points.map(({ kind, position }) => `${position.line - declaredLine}: ${kind}`);
const declaredLine = thingDefinition('thing', '').split('\n').length - 1;

describe('compile/coverage', () => {
  test('declares each expression, its branches, and the results that matter, by position', () => {
    const { declared } = recorded();
    assert.deepEqual(kindsOf(declared), [
      ...['2: expression', '2: value', '2: default'],
      ...['7: expression', '7: expression'],
      ...['5: expression', '5: true', '5: false'],
      ...['6: expression', '6: empty', '6: not-empty', '6: value', '6: default'],
      ...['9: expression', '9: true', '9: false'],
    ]);
    assert.equal(new Set(declared.map(({ key }) => key)).size, declared.length);
  });

  test('records what evaluations reach, and leaves results as they are', async () => {
    const { plan, reached } = recorded();
    const resource = {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 'a' },
      spec: { size: 2, items: ['x'] },
    };
    const phase = plan.startPhase({
      phase: 'wanting',
      resource,
      cluster: { name: '', labels: {} },
      now: '2026-01-01T00:00:00Z',
      randomText: () => '',
    });
    assert.deepEqual(await phase.when('items'), { kind: 'value', value: true });
    const elements = await phase.elements('items');
    assert.deepEqual(elements, { kind: 'value', value: [{ item: 'x', index: 0 }] });
    assert.deepEqual(kindsOf(reached), [
      ...['5: expression', '5: true', '6: expression', '6: not-empty', '6: value'],
    ]);
  });
});
