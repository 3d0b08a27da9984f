import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definesCrd } from '#definition';
import { KubeError, type ResourceType } from '#kube/roles.ts';
import { createLogger, silentLogger } from '#telemetry';
import { gvkOf } from '#util/gvk.ts';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../../test/support/fakes/quiet-cluster.ts';
import { retryUntilDone } from '../waits.ts';
import { storedVersionsOf } from './check-change.ts';
import { crdGvk } from './crd-definition.ts';
import { migrateStored } from './migrate-stored.ts';
import type { MigrationView } from './version-view.ts';

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

interface LoggedLine {
  readonly level: string;
  readonly from: readonly string[];
  readonly resources?: number;
  readonly rejected?: readonly string[];
}

async function migrate(
  storedVersions: readonly string[],
  {
    labels = { 'homeostat.dev/definition': 'mine' },
    annotations = {} as Readonly<Record<string, string>>,
    rejected = '',
    hub = undefined as { readonly uid: string } | undefined,
    failsOnce = undefined as KubeError | undefined,
  } = {},
) {
  assert.ok(definesCrd(definition));
  const cluster = new QuietCluster(types);
  const clock = new FakeClock();
  cluster.server.put({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'as.a.example.com', labels, annotations },
    status: { storedVersions },
  });
  for (const name of ['x', 'y', 'z'])
    cluster.server.put({
      apiVersion: 'a.example.com/v2',
      kind: 'A',
      metadata: { name, namespace: 'default' },
    });
  let once = failsOnce;
  cluster.fault = ({ verb, name }) => {
    if (verb !== 'edit') return undefined;
    if (name === rejected) return new KubeError('rejected', 'no', { status: 422 });
    const fault = once;
    once = undefined;
    return fault;
  };
  const log: LoggedLine[] = [];
  const destination = { write: (line: string) => void log.push(JSON.parse(line)) };
  const logger = createLogger({ level: 'info', destination });
  const progress: (MigrationView | undefined)[] = [];
  const onMigration = (migration: MigrationView | undefined) => void progress.push(migration);
  const context = { definition, cluster, clock, logger, hub, onMigration };
  const { signal } = new AbortController();
  const migrating = retryUntilDone(() => migrateStored(context, signal), {
    ...{ clock, cluster, logger: silentLogger, signal },
    message: 'Resources cannot be migrated to the new storage version, will retry',
  });
  for (let rounds = 0; rounds < 20; rounds++) {
    cluster.deliver();
    await settle();
    await clock.advance(1_000);
  }
  await migrating;
  const reported = log.map(({ level, from, resources, rejected: named }) => ({
    level,
    from,
    ...(named === undefined ? { resources } : { rejected: named }),
  }));
  const crd = cluster.server.get(crdGvk, undefined, 'as.a.example.com')?.object;
  const after = crd && storedVersionsOf(crd);
  return { reported, after, progress, writes: cluster.takeWrites().toSorted() };
}

describe('runtime/crd/migrate-stored', () => {
  test('every resource is written once, then the record is trimmed', async () => {
    const { reported, after, writes } = await migrate(['v1', 'v2']);
    assert.deepEqual(reported, [{ level: 'info', from: ['v1'], resources: 3 }]);
    assert.deepEqual(after, ['v2']);
    assert.deepEqual(writes, [
      'edit A/x',
      'edit A/y',
      'edit A/z',
      'status CustomResourceDefinition/as.a.example.com',
    ]);
  });

  test('resources of a member are written by its hub', async () => {
    const annotations = { 'homeostat.dev/hub': 'h' };
    const { after } = await migrate(['v1', 'v2'], { annotations, hub: { uid: 'h' } });
    assert.deepEqual(after, ['v2']);
    const { writes } = await migrate(['v1', 'v2'], { annotations, hub: { uid: 'other' } });
    assert.deepEqual(writes, []);
  });

  for (const [what, versions, labels] of [
    ['all is stored in the version', ['v2'], undefined],
    ["the CRD is another definition's", ['v1', 'v2'], { 'homeostat.dev/definition': 'other' }],
  ] as const) {
    test(`where ${what} nothing is written`, async () => {
      const { reported, writes } = await migrate(versions, labels && { labels });
      assert.deepEqual([reported, writes], [[], []]);
    });
  }

  test('a resource that the server rejects is named, and the record stays', async () => {
    const { reported, after, progress } = await migrate(['v1', 'v2'], { rejected: 'y' });
    assert.deepEqual(reported, [{ level: 'warn', from: ['v1'], rejected: ['default/y'] }]);
    assert.deepEqual(after, ['v1', 'v2']);
    const left = { version: 'v2', written: 2, total: 3, rejected: ['default/y'] };
    assert.deepEqual(progress.at(-1), left);
  });

  for (const [status, code] of [
    [409, 'conflict'],
    [429, 'too-many-requests'],
    [504, 'unavailable'],
  ] as const)
    test(`a write that fails with ${status} is repeated, and the record is not trimmed before`, async () => {
      const { reported, after } = await migrate(['v1', 'v2'], {
        failsOnce: new KubeError(code, code, { status }),
      });
      assert.deepEqual(reported, [{ level: 'info', from: ['v1'], resources: 3 }]);
      assert.deepEqual(after, ['v2']);
    });

  test('its progress is reported, and that nothing is left', async () => {
    const { progress } = await migrate(['v1', 'v2']);
    const written = (count: number) => ({ version: 'v2', written: count, total: 3 });
    assert.deepEqual(progress, [...[0, 1, 2, 3].map(written), undefined]);
    assert.deepEqual((await migrate(['v2'])).progress, [undefined]);
  });
});
