import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../test/support/fakes/quiet-cluster.ts';
import { definesCrd } from '../../definition/index.ts';
import { KubeError, type ResourceType } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import { storedVersionsOf } from './check-change.ts';
import { crdGvk } from './crd-definition.ts';
import { migrateStored } from './migrate-stored.ts';

const types: readonly ResourceType[] = [
  {
    gvk: crdGvk,
    plural: 'customresourcedefinitions',
    namespaced: false,
    hasStatus: true,
    verbs: [],
  },
  {
    gvk: gvkOf('a.example.com/v2', 'A'),
    plural: 'as',
    namespaced: true,
    hasStatus: true,
    verbs: [],
  },
];

const schema = 'schema: { openAPIV3Schema: { type: object } }';
const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: mine }
spec:
  crd:
    group: a.example.com
    names: { kind: A, plural: as }
    scope: Namespaced
    versions:
      - { name: v1, served: true, storage: false, ${schema} }
      - { name: v2, served: true, storage: true, ${schema} }
`;
const [located] = definitionParser.parse(text, 'a.yaml').definitions;
assert.ok(located);
const { definition } = located;
assert.ok(definesCrd(definition));

async function migrate(
  storedVersions: readonly string[],
  { labels = { 'homeostat.dev/definition': 'mine' }, rejected = '' } = {},
) {
  assert.ok(definesCrd(definition));
  const cluster = new QuietCluster(types);
  const clock = new FakeClock();
  cluster.server.put({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'as.a.example.com', labels },
    status: { storedVersions },
  });
  for (const name of ['x', 'y', 'z'])
    cluster.server.put({
      apiVersion: 'a.example.com/v2',
      kind: 'A',
      metadata: { name, namespace: 'default' },
    });
  cluster.fault = ({ verb, name }) =>
    verb === 'edit' && name === rejected
      ? new KubeError('rejected', 'no', { status: 422 })
      : undefined;
  const migrating = migrateStored({ definition, cluster, clock }, new AbortController().signal);
  for (let rounds = 0; rounds < 10; rounds++) {
    cluster.deliver();
    await settle();
    await clock.advance(1_000);
  }
  const result = await migrating;
  const crd = cluster.server.get(crdGvk, undefined, 'as.a.example.com')?.object;
  const after = crd && storedVersionsOf(crd);
  return { result, after, writes: cluster.takeWrites().toSorted() };
}

describe('runtime/crd/migrate-stored', () => {
  test('every resource is written once, then the record is trimmed', async () => {
    const { result, after, writes } = await migrate(['v1', 'v2']);
    assert.deepEqual(result, { kind: 'migrated', from: ['v1'], resources: 3 });
    assert.deepEqual(after, ['v2']);
    assert.deepEqual(writes, [
      'edit A/x',
      'edit A/y',
      'edit A/z',
      'status CustomResourceDefinition/as.a.example.com',
    ]);
  });

  for (const [what, versions, labels] of [
    ['all is stored in the version', ['v2'], undefined],
    ["the CRD is another definition's", ['v1', 'v2'], { 'homeostat.dev/definition': 'other' }],
  ] as const) {
    test(`where ${what} nothing is written`, async () => {
      const { result, writes } = await migrate(versions, labels && { labels });
      assert.deepEqual([result, writes], [{ kind: 'current' }, []]);
    });
  }

  test('a resource that the server rejects is named, and the record stays', async () => {
    const { result, after } = await migrate(['v1', 'v2'], { rejected: 'y' });
    assert.deepEqual(result, { kind: 'incomplete', from: ['v1'], rejected: ['default/y'] });
    assert.deepEqual(after, ['v1', 'v2']);
  });
});
