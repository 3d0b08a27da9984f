import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ObjectRecord } from '../core/record.ts';
import { claimOf, FarIndex } from './far-index.ts';

const location = 'http://api.shop.svc/v1';
const record: ObjectRecord = {
  identity: {
    ...{ location, endpointUid: 'e-1', params: 'p' },
    observe: { method: 'GET', path: '/queues/orders' },
  },
  isOwned: true,
};

function claim(namespace: string, name: string, creationTimestamp: string) {
  const metadata = { namespace, name, uid: `${namespace}-${name}`, creationTimestamp };
  const object = { apiVersion: 'homeostat.dev/v1alpha1', kind: 'HttpObject', metadata };
  return claimOf(object, { plan: undefined, record, location });
}

describe('http-objects/controller index', () => {
  for (const [namespace, owner] of [
    ['shop', 'shop/older'],
    ['evil', undefined],
  ] as const)
    test(`an older claim in namespace "${namespace}" ${owner === undefined ? 'holds no other namespace' : 'comes first'}`, () => {
      const index = new FarIndex();
      const own = claim('shop', 'www', '2026-01-02T00:00:00Z');
      index.set(claim(namespace, 'older', '2026-01-01T00:00:00Z'));
      index.set(own);
      assert.equal(index.ownerBefore(own, 'recorded'), owner);
      assert.equal(index.ownerBefore(own, 'planned'), owner);
    });
});
