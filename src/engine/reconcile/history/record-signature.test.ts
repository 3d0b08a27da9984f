import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { recordManifest, seriesOf } from './record.ts';
import {
  authenticityOf,
  deletedAtOf,
  deletionSignatureOf,
  KeyRing,
  OwnSignatures,
  signed,
} from './record-signature.ts';

const keyOf = (id: string, text = id) => ({
  id,
  bytes: new TextEncoder().encode(text.padEnd(32)),
});
const ring = new KeyRing([keyOf('1'), keyOf('2')]);

const owner = {
  key: 'default/one',
  uid: 'owner',
  resource: {
    apiVersion: 'a.example.com/v1',
    kind: 'Journal',
    metadata: { name: 'one', namespace: 'default', uid: 'owner' },
  },
};

function recordOf(kind = 'ConfigMap'): KubeObject {
  const state = {
    apiVersion: 'v1',
    kind,
    metadata: { name: 'app', namespace: 'default' },
    data: { b: 'YQ==', a: 'YQ==' },
  };
  const subject = { ownerUid: owner.uid, readId: 'all', namespace: 'default', name: 'app' };
  const manifest = recordManifest({
    definition: 'journal',
    owner,
    readId: 'all',
    version: 3,
    state,
    uid: 'x',
    series: seriesOf('journal', subject),
    now: '2026-01-01T00:00:00Z',
    clusterNamespace: 'homeostat-system',
  });
  return { ...manifest, metadata: { ...manifest.metadata, uid: 'r' } };
}

function changed(record: KubeObject, metadata: object, more: object = {}): KubeObject {
  return { ...record, ...more, metadata: { ...record.metadata, ...metadata } };
}

describe('reconcile/history signatures', () => {
  for (const kind of ['ConfigMap', 'Secret']) {
    const record = signed(recordOf(kind), keyOf('1'));
    const { labels = {}, annotations = {} } = record.metadata;
    const others = { note: 'x' };

    test(`of a ${kind}: a record is authentic, in any order of its keys and with labels of others`, () => {
      const { data } = record;
      const reversed = Object.fromEntries(Object.entries(data as object).reverse());
      const found = changed(
        record,
        { labels: { ...labels, ...others }, annotations: { ...annotations, ...others } },
        { data: reversed },
      );
      assert.equal(authenticityOf(found, ring), 'authentic');
    });

    for (const [what, other] of [
      ['another content', changed(record, {}, { data: { ...(record.data as object), c: 'd' } })],
      ['another kind', changed(record, {}, { kind: 'Other' })],
      ['another place', changed(record, { namespace: 'other' })],
      ['another version', changed(record, { name: record.metadata.name.replace(/3$/, '4') })],
      [
        'another owner',
        changed(record, { labels: { ...labels, 'homeostat.dev/record-of': 'other' } }),
      ],
      ['another read', changed(record, { labels: { ...labels, 'homeostat.dev/read': 'other' } })],
      [
        'another time',
        changed(record, {
          annotations: { ...annotations, 'homeostat.dev/recorded-at': '1999-01-01T00:00:00Z' },
        }),
      ],
      [
        'a signature that is none',
        changed(record, { annotations: { ...annotations, 'homeostat.dev/signature': '1.00' } }),
      ],
    ] as const)
      test(`of a ${kind}: ${what} is forged`, () => {
        assert.equal(authenticityOf(other, ring), 'forged');
      });
  }

  test('without a signature, and with that of a lost key, it is reported so', () => {
    assert.equal(authenticityOf(recordOf(), ring), 'unsigned');
    assert.equal(authenticityOf(signed(recordOf(), keyOf('3')), ring), 'unknown-key');
    assert.equal(authenticityOf(signed(recordOf(), keyOf('1', 'other')), ring), 'forged');
  });

  test('what this process has signed is compared, and another content with that signature is forged', () => {
    const record = signed(recordOf(), keyOf('1'));
    const own = new OwnSignatures();
    own.add(record);
    const other = changed(record, {}, { data: { a: 'b' } });
    assert.equal(authenticityOf(other, ring, own), 'forged');
    own.add(record);
    assert.equal(authenticityOf(record, ring, own), 'authentic');
    assert.equal(authenticityOf(record, new KeyRing([]), own), 'unknown-key');
  });

  test('the mark of a deletion counts only with its signature, on the object that it is of', () => {
    const at = '2026-01-02T00:00:00Z';
    const marked = (signature?: string, uid = 'r') =>
      changed(recordOf(), {
        uid,
        annotations: {
          'homeostat.dev/deleted-at': at,
          ...(signature && { 'homeostat.dev/deleted-signature': signature }),
        },
      });
    const signature = deletionSignatureOf('r', at, keyOf('2'));
    assert.equal(deletedAtOf(marked(signature), ring), at);
    assert.equal(deletedAtOf(marked(), ring), undefined);
    assert.equal(deletedAtOf(marked(signature, 'other'), ring), undefined);
  });
});
