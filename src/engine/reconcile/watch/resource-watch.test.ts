import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorPlan } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { planOf } from '../../../../test/support/fakes/handmade-plan.ts';
import { createResourceChange } from './resource-watch.ts';

/** A plan for a kind that is there; it maps `status.mapped` and reads `status.ready` and `status.mapped`. */
function foreignPlan(): OperatorPlan {
  const plan = planOf({ status: { mapped: () => 1 } });
  return {
    ...plan,
    definition: {
      ...plan.definition,
      kind: { source: 'for', gvk: gvkOf('apps.example.com/v1', 'PodSet') },
    },
    externalStatusPathsRead: [
      ['status', 'ready', 'count'],
      ['status', 'mapped'],
    ],
  };
}

const counted: KubeObject = {
  apiVersion: 'apps.example.com/v1',
  kind: 'PodSet',
  metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 1 },
  status: {
    ready: { count: 1, other: 1 },
    mapped: 1,
    other: 1,
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};
const { generation: _, ...uncountedMetadata } = counted.metadata;
const uncounted: KubeObject = { ...counted, metadata: uncountedMetadata, data: { key: 'a' } };

const stored = (object: KubeObject): StoredObject => ({
  object,
  cluster: undefined,
  appliedBy: [],
});

function judge(before: KubeObject, change: object) {
  const after = { ...before, ...change };
  const judged = createResourceChange(foreignPlan());
  const event = {
    namespace: 'n',
    name: 'a',
    old: stored(before),
    current: stored(after),
    initial: false,
  };
  return { byOthers: judged.isForeign(event), ofStatus: judged.isOfStatus(event) };
}

const withStatus = (before: KubeObject, change: object) => ({
  status: { ...(before.status as object), ...change },
});

describe('reconcile/watch/resource-watch, of a kind of `for`', () => {
  for (const [what, change, byOthers, ofStatus] of [
    [
      'a status path that is read',
      withStatus(counted, { ready: { count: 2, other: 1 } }),
      true,
      false,
    ],
    ['a neighbour of it', withStatus(counted, { ready: { count: 1, other: 2 } }), false, false],
    ['another status field', withStatus(counted, { other: 2 }), false, false],
    ['a status field that we map', withStatus(counted, { mapped: 2 }), false, true],
    ['a condition, of whatever type', withStatus(counted, { conditions: [] }), false, false],
    ['its generation', { metadata: { ...counted.metadata, generation: 2 } }, true, false],
    [
      'its annotations',
      { metadata: { ...counted.metadata, annotations: { a: 'b' } } },
      true,
      false,
    ],
    [
      'its version alone',
      { metadata: { ...counted.metadata, resourceVersion: '2' } },
      false,
      false,
    ],
  ] as const) {
    test(`with generations, ${what} ${byOthers || ofStatus ? 'counts' : 'does not count'}`, () => {
      assert.deepEqual(judge(counted, change), { byOthers, ofStatus });
    });
  }

  for (const [what, change, byOthers, ofStatus] of [
    ['a field', { data: { key: 'b' } }, true, false],
    ['a status field that no expression reads', withStatus(uncounted, { other: 2 }), true, false],
    ['a status field that we map', withStatus(uncounted, { mapped: 2 }), false, true],
    [
      'its version alone',
      { metadata: { ...uncounted.metadata, resourceVersion: '2' } },
      false,
      false,
    ],
  ] as const) {
    test(`without generations, ${what} ${byOthers || ofStatus ? 'counts' : 'does not count'}`, () => {
      assert.deepEqual(judge(uncounted, change), { byOthers, ofStatus });
    });
  }
});
