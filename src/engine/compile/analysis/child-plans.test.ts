import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { bundledSchemas, compile, type OperatorPlan } from '../index.ts';

const fixtures = new URL('../../../../test/fixtures/valid/', import.meta.url);

/** The plan of a definition with these children, in YAML below `spec`. */
function planOf(body: string, scope = 'Namespaced'): OperatorPlan {
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: thing }
spec:
  crd: { group: a.example.com, names: { kind: A, plural: as }, scope: ${scope}, versions: [{ name: v1, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }] }
${body}`;
  return compiled(text);
}

function compiled(text: string): OperatorPlan {
  const { definitions, diagnostics } = definitionParser.parse(text, 'a.yaml');
  assert.deepEqual(diagnostics, []);
  assert.ok(definitions[0]);
  const { plan, diagnostics: found } = compile(definitions[0], bundledSchemas());
  assert.deepEqual(found, []);
  assert.ok(plan);
  return plan;
}

const map = (fields = '', metadata = 'name: a') =>
  `  children: [{ id: a, ${fields} template: { apiVersion: v1, kind: ConfigMap, metadata: { ${metadata} } } }]\n`;

describe('compile/analysis/detached', () => {
  for (const [what, body, scope] of [
    ['in the namespace of its resource', map()],
    ['that may go at any time', map('deleteWhen: true,')],
    [
      'whose namespace is said to be the own one',
      map('', 'name: a, namespace: "${ metadata.namespace }"'),
    ],
    ['of a cluster-scoped resource', map('', 'name: a, namespace: b'), 'Cluster'],
    [
      'of a cluster-scoped resource, in a computed namespace',
      map('crossNamespace: { namespaces: ["*"] },', 'name: a, namespace: "${ metadata.name }"'),
      'Cluster',
    ],
  ] as const) {
    test(`a child ${what} has an owner reference, and its resource no finalizer`, () => {
      const plan = planOf(body, scope);
      assert.equal(plan.children[0]?.isDetached, false);
      assert.equal(plan.needsFinalizer, false);
    });
  }

  for (const [what, body] of [
    ['in another namespace', map('crossNamespace: true,', 'name: a, namespace: b')],
    [
      'without a namespace',
      '  children: [{ id: a, crossNamespace: true, template: { apiVersion: v1, kind: Namespace, metadata: { name: a } } }]\n',
    ],
    ['that stays', map('deletionPolicy: Orphan,')],
    ['that says when it may go', map('deleteWhen: "${ $child.data.done = \'yes\' }",')],
    ['of a definition with onDelete', `${map()}  onDelete: { order: Parallel }\n`],
  ] as const) {
    test(`a child ${what} has none, and its resource has the finalizer`, () => {
      const plan = planOf(body);
      assert.equal(plan.children[0]?.isDetached, true);
      assert.equal(plan.needsFinalizer, true);
    });
  }

  test('children of onDelete are a separate stage', () => {
    const plan = compiled(readFileSync(new URL('scope.yaml', fixtures), 'utf8'));
    const { onDelete } = plan;
    assert.deepEqual(
      onDelete?.tiers.map((tier) => tier.map(({ id }) => id)),
      [['backup'], ['note']],
    );
    assert.deepEqual(
      [onDelete?.order, onDelete?.timeoutMs, onDelete?.onTimeout],
      ['Parallel', 90_000, 'Continue'],
    );
    assert.equal(
      plan.tiers.flat().some(({ id }) => id === 'backup'),
      false,
    );
    assert.deepEqual(
      plan.children.map(({ id }) => id),
      ['own', 'literal', 'computed', 'space', 'kept', 'guarded'],
    );
  });

  test('paths that deleteWhen reads of its child trigger a reconcile', () => {
    const plan = compiled(readFileSync(new URL('scope.yaml', fixtures), 'utf8'));
    const guarded = plan.children.find(({ id }) => id === 'guarded');
    assert.deepEqual(guarded?.pathsRead, [['data', 'done']]);
    assert.equal(guarded?.hasDeleteWhen, true);
  });
});
