import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { KubeError, type KubeErrorCode } from '../kube-error.ts';
import type { EditableMetadata, MetadataPatch } from '../roles.ts';
import { editMetadata } from './edit-metadata.ts';

function object(resourceVersion: string, finalizers: readonly string[], uid = 'u'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', uid, resourceVersion, finalizers },
  };
}

function withoutOurs({ finalizers = [] }: EditableMetadata): MetadataPatch | undefined {
  if (!finalizers.includes('ours')) return undefined;
  return { finalizers: finalizers.filter((finalizer) => finalizer !== 'ours') };
}

/** A server with these objects, one per read, and these failures, one per patch. */
function setUp(
  reads: readonly (KubeObject | undefined)[],
  failures: readonly KubeErrorCode[] = [],
) {
  const left = { reads: [...reads], failures: [...failures] };
  const sent: MetadataPatch[] = [];
  return {
    sent,
    left,
    requests: {
      read: async () => left.reads.shift(),
      patch: async (metadata: MetadataPatch) => {
        sent.push(metadata);
        const failure = left.failures.shift();
        if (failure !== undefined) throw new KubeError(failure, 'x', { status: 409 });
        return { object: object('9', []), cluster: undefined, appliedBy: [] };
      },
    },
  };
}

describe('kube/api/edit-metadata', () => {
  test('what the caller knows is not read again, and its version guards it', async () => {
    const { requests, sent, left } = setUp([object('1', [])]);
    await editMetadata(requests, {
      uid: 'u',
      cached: object('3', ['x', 'ours']),
      change: withoutOurs,
    });
    assert.deepEqual(sent, [{ finalizers: ['x'], uid: 'u', resourceVersion: '3' }]);
    assert.equal(left.reads.length, 1);
  });

  test('what others put into the list meanwhile stays there', async () => {
    const { requests, sent } = setUp([object('4', ['x', 'y', 'ours'])], ['conflict']);
    await editMetadata(requests, {
      uid: 'u',
      cached: object('3', ['x', 'ours']),
      change: withoutOurs,
    });
    assert.deepEqual(sent.at(-1), { finalizers: ['x', 'y'], uid: 'u', resourceVersion: '4' });
  });

  for (const [what, reads] of [
    ['what is not there', [undefined]],
    ['another object of that name', [object('1', ['ours'], 'other')]],
    ['what needs no change', [object('1', ['x'])]],
  ] as const) {
    test(`${what} is left alone`, async () => {
      const { requests, sent } = setUp(reads);
      assert.equal(await editMetadata(requests, { uid: 'u', change: withoutOurs }), undefined);
      assert.deepEqual(sent, []);
    });
  }

  test('it gives up on an object that changes all the time', async () => {
    const busy = Array.from({ length: 9 }, (_, index) => object(String(index), ['ours']));
    const { requests, sent } = setUp(busy, Array(9).fill('conflict'));
    await assert.rejects(editMetadata(requests, { uid: 'u', change: withoutOurs }), {
      code: 'conflict',
    });
    assert.equal(sent.length, 5);
  });

  test('an object that is deleted while it is edited needs no edit any more', async () => {
    const { requests } = setUp([object('1', ['ours'])], ['not-found']);
    assert.equal(await editMetadata(requests, { uid: 'u', change: withoutOurs }), undefined);
  });
});
