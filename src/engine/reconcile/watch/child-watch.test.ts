import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CacheEvent, StoredObject } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import { definitionLabel, ownerUidLabel } from '#util/stored-names.ts';
import { podSetPlan } from '../../../../test/support/fakes/podset-plan.ts';
import { kindAt } from '../identity.ts';
import { watchChildren } from './child-watch.ts';
import type { Watches } from './watches.ts';

/** The watch of the definition "podset", whose only resource has the UID "mine", and what it reads of objects. */
function watched() {
  const plan = podSetPlan();
  const enqueued: string[] = [];
  const reads: string[] = [];
  const indexed: ((object: StoredObject['object']) => readonly string[])[] = [];
  let notify: (event: CacheEvent) => void = () => {};
  const informer = {
    index: (_name: string, valuesOf: (typeof indexed)[number]) => {
      indexed.push(valuesOf);
      return { get: () => [] };
    },
    subscribe: (listener: typeof notify) => {
      notify = listener;
      return () => {};
    },
    onState: () => () => {},
  };
  const watches = {
    plan,
    queue: { enqueueFor: (key: string) => enqueued.push(key) },
    cluster: { acquire: () => informer },
    resources: { keyOfUid: (uid: string) => (uid === 'mine' ? 'default/a' : undefined) },
    index: { of: () => undefined },
  } as unknown as Watches;
  const watch = watchChildren(watches, kindAt(gvkOf('apps/v1', 'Deployment'), undefined));
  const deployment = (definition: string, uid: string, replicas: number): StoredObject => ({
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        namespace: 'default',
        uid: 'deployment',
        labels: { [definitionLabel]: definition, [ownerUidLabel]: uid },
        get ownerReferences() {
          reads.push('ownerReferences');
          return [];
        },
      },
      get spec() {
        reads.push('spec');
        return { replicas };
      },
    },
    cluster: undefined,
    appliedBy: [],
  });
  const change = (definition: string, uid: string) => {
    const [old, current] = [1, 2].map((replicas) => deployment(definition, uid, replicas));
    notify({ namespace: 'default', name: 'web', initial: false, old: old!, current: current! });
  };
  return { change, deployment, enqueued, reads, indexed, watch };
}

describe('reconcile/watch/child-watch', () => {
  test('a change of a child enqueues its resource', () => {
    const { change, enqueued, reads } = watched();
    change('podset', 'mine');
    assert.deepEqual(enqueued, ['default/a']);
    assert.ok(reads.includes('spec'));
  });

  test('a child that only has the label of a resource counts, whatever its definition', () => {
    const { change, enqueued } = watched();
    change('another', 'mine');
    assert.deepEqual(enqueued, ['default/a']);
  });

  test('an object of another definition is neither compared nor looked into: many definitions share the watch', () => {
    const { change, deployment, enqueued, reads, indexed, watch } = watched();
    change('another', 'theirs');
    watch.controlledBy('default/a');
    for (const valuesOf of indexed) valuesOf(deployment('another', 'theirs', 1).object);
    assert.deepEqual([enqueued, reads], [[], []]);
  });
});
