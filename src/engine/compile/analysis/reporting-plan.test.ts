import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planOfThing } from '../../../../test/support/thing-plan.ts';

function patchOf(target: string, patch = '{ data: { a: b } }') {
  const plan = planOfThing(`  patches:
    - id: note
      target: ${target}
      crossNamespace: { namespaces: ["*"] }
      patch: ${patch}
`);
  const [found] = plan.reporting?.patches ?? [];
  assert.ok(found);
  return found;
}

describe('compile/analysis reporting plan', () => {
  for (const [name, namespace, isShared] of [
    ['fixed', undefined, true],
    ['${ spec.name }', undefined, true],
    ['${ metadata.name }-x', undefined, false],
    ['{{ metadata.name }}', undefined, false],
    ['${ metadata.name }', 'other', true],
    ['${ metadata.name }', '${ metadata.namespace }', false],
    ['${ metadata.namespace }-${ metadata.name }', 'other', true],
    ['${ metadata.uid }', 'other', false],
  ] as const) {
    test(`the target "${name}" in ${namespace ?? 'its own namespace'} ${isShared ? 'may be' : 'is not'} shared`, () => {
      const where = namespace === undefined ? '' : `, namespace: "${namespace}"`;
      const plan = patchOf(`{ apiVersion: v1, kind: ConfigMap, name: "${name}"${where} }`);
      assert.equal(plan.isShared, isShared);
    });
  }

  test('knows the paths that a patch sets, lists and what is computed as a whole', () => {
    const target = '{ apiVersion: example.com/v1, kind: Other, name: x }';
    const { paths } = patchOf(
      target,
      '{ spec: { a: 1, b: { c: "${ spec.x }", "${ spec.key }": 2 }, list: [{ d: 1 }] } }',
    );
    assert.deepEqual(paths, [
      ['spec', 'a'],
      ['spec', 'b'],
      ['spec', 'list'],
    ]);
  });

  test('there is no plan if only the status is reported', () => {
    assert.equal(planOfThing('  status: { a: 1 }\n').reporting, undefined);
  });

  for (const [body, expected] of [
    ['conditions: [{ type: A, status: "${ status.a = 1 }" }]', []],
    ['conditions: [{ type: A, status: "${ $previous.status.a = status.b }" }]', [['status', 'a']]],
    [
      'patches: [{ id: p, when: "${ $previous.status.a = 1 }", patch: { spec: { b: 1 } } }]',
      [['status', 'a']],
    ],
    ['events: [{ when: "${ $previous.status.a = 1 }", reason: A }]', []],
  ] as const) {
    test(`a write of Homeostat to ${JSON.stringify(expected)} triggers a reconcile for ${body}`, () => {
      assert.deepEqual(planOfThing(`  ${body}\n`).statusPathsRead, expected);
    });
  }
});
