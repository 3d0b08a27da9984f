import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { parseRecord, type RecordOwner, recordManifest, seriesOf } from './record.ts';

const definition = 'journal';
const options = { definition, clusterNamespace: 'homeostat-system' };
const manager = 'homeostat/journal.history';

const owner: RecordOwner = {
  key: 'default/one',
  uid: 'owner-uid',
  resource: {
    apiVersion: 'a.example.com/v1',
    kind: 'Journal',
    metadata: { name: 'one', namespace: 'default', uid: 'owner-uid' },
  },
};

function stateOf(namespace: string | undefined, kind = 'ConfigMap'): KubeObject {
  const place = namespace === undefined ? {} : { namespace };
  return { apiVersion: 'v1', kind, metadata: { name: 'app', ...place }, data: { a: 'YQ==' } };
}

/** The record of a state, as the server has it. */
function recordOf(state: KubeObject, appliedBy: readonly string[] = [manager]): StoredObject {
  const { namespace } = state.metadata;
  const subject = { ownerUid: owner.uid, readId: 'configs', namespace, name: 'app' };
  const object = recordManifest({
    ...options,
    owner,
    readId: 'configs',
    version: 3,
    state,
    uid: 'object-uid',
    series: seriesOf(definition, subject),
    now: '2026-01-01T00:00:00Z',
  });
  return {
    object: { ...object, metadata: { ...object.metadata, uid: 'r' } },
    cluster: undefined,
    appliedBy,
  };
}

function changed(stored: StoredObject, change: object, metadata: object = {}): StoredObject {
  const { object } = stored;
  return {
    ...stored,
    object: { ...object, ...change, metadata: { ...object.metadata, ...metadata } },
  };
}

describe('reconcile/history record', () => {
  test('a Secret whose state would take too much memory, or is nested deep, is none', () => {
    const secret = recordOf(stateOf('team', 'Secret'));
    const withState = (value: string) => {
      const state = JSON.stringify(stateOf('team', 'Secret')).replace('"YQ=="', value);
      return changed(secret, { data: { object: btoa(state) } });
    };
    const versionOf = (value: string) =>
      parseRecord(withState(value), options.definition, options.clusterNamespace)?.version;
    assert.equal(versionOf('"YQ=="'), 3);
    assert.equal(versionOf(`[${'{},'.repeat(240_000)}{}]`), undefined);
    assert.equal(versionOf('['.repeat(200) + ']'.repeat(200)), undefined);
  });

  for (const [what, state, place] of [
    ['a ConfigMap', stateOf('team'), 'team'],
    ['a Secret', stateOf('team', 'Secret'), 'team'],
    ['an object without a namespace', stateOf(undefined, 'Namespace'), 'homeostat-system'],
  ] as const)
    test(`of ${what} has its state and is in the namespace "${place}"`, () => {
      const stored = recordOf(state);
      assert.equal(stored.object.metadata.namespace, place);
      const record = parseRecord(stored, options.definition, options.clusterNamespace);
      assert.deepEqual(record?.object, state);
      assert.equal(record?.version, 3);
      assert.equal(record?.objectUid, 'object-uid');
      assert.equal(record?.recordedAt, '2026-01-01T00:00:00Z');
    });

  test('only in the namespace of the resource is the resource its owner, and not its controller', () => {
    const ownersOf = (namespace: string) =>
      recordOf(stateOf(namespace)).object.metadata.ownerReferences;
    assert.deepEqual(ownersOf('default'), [
      { apiVersion: 'a.example.com/v1', kind: 'Journal', name: 'one', uid: 'owner-uid' },
    ]);
    assert.equal(ownersOf('team'), undefined);
  });

  test('of a Secret is a Secret that cannot be changed, of a type of its own', () => {
    const { kind, type, immutable } = recordOf(stateOf('team', 'Secret')).object;
    assert.deepEqual(
      { kind, type, immutable },
      {
        kind: 'Secret',
        type: 'homeostat.dev/record',
        immutable: true,
      },
    );
  });

  const record = recordOf(stateOf('team'));
  const secret = recordOf(stateOf('team', 'Secret'));
  for (const [what, forged] of [
    ['without our field manager', recordOf(stateOf('team'), ['somebody'])],
    ['without our label', changed(record, {}, { labels: {} })],
    ['of an object in another namespace', changed(record, { data: stateOf('kube-system') })],
    [
      'of another object',
      changed(record, { data: { ...stateOf('team'), metadata: { name: 'b', namespace: 'team' } } }),
    ],
    ['with another name', changed(record, {}, { name: 'journal-0123456789-3' })],
    [
      'with a version of ten digits',
      changed(record, {}, { name: `${record.object.metadata.name.replace(/3$/, '')}1000000000` }),
    ],
    ['without a version in its name', changed(record, {}, { name: 'journal-x' })],
    ['that is being deleted', changed(record, {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['without a state', changed(record, { data: 'text' })],
    ['of a Secret in a ControllerRevision', changed(record, { data: stateOf('team', 'Secret') })],
    [
      'of a ConfigMap in a Secret',
      changed(secret, { data: { object: btoa(JSON.stringify(stateOf('team'))) } }),
    ],
    ['whose content is not base64 of JSON', changed(secret, { data: { object: '!' } })],
  ] as const)
    test(`${what} does not count`, () => {
      assert.equal(parseRecord(forged, options.definition, options.clusterNamespace), undefined);
    });
});
