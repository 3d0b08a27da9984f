import assert from 'node:assert/strict';
import type { OperatorPlan } from '../../../src/compile/index.ts';
import { KubeError } from '../../../src/kube/roles.ts';
import { gvkOf } from '../../../src/util/gvk.ts';
import type { KubeObject } from '../../../src/util/kube-object.ts';
import { type HandmadeChild, type HandmadePlan, planOf } from './handmade-plan.ts';
import { OperatorWorld } from './operator-world.ts';

/** What a server answers that is away for a moment. */
export const unavailable = new KubeError('unavailable', 'x', { status: 503 });

/** A ConfigMap of the resource. */
export function mapChild(id: string, changes: Partial<HandmadeChild> = {}): HandmadeChild {
  return {
    id,
    apiVersion: 'v1',
    kind: 'ConfigMap',
    template: () => ({ metadata: { name: id }, data: { a: 'b' } }),
    ...changes,
  };
}

/** A ConfigMap of the resource in namespace `other`, which only we can collect. */
export function farChild(id: string, changes: Partial<HandmadeChild> = {}): HandmadeChild {
  return mapChild(id, {
    crossNamespace: { namespaces: ['other'] },
    template: () => ({ metadata: { name: id, namespace: 'other' } }),
    ...changes,
  });
}

export interface DeletionWorld {
  readonly world: OperatorWorld;
  readonly plan: OperatorPlan;
}

/** A PodSet `a` of the plan, at rest. */
export function deletionWorld(plan: HandmadePlan): Promise<DeletionWorld> {
  return deletionWorldOf(planOf(plan));
}

/** The same of a plan that was made already. */
export async function deletionWorldOf(plan: OperatorPlan): Promise<DeletionWorld> {
  const world = new OperatorWorld(plan);
  await world.start();
  world.podSet('a');
  await world.settle();
  return { world, plan };
}

/** PodSet `a` as the server has it. */
export function podSetOf(world: OperatorWorld): KubeObject | undefined {
  return world.get('apps.example.com/v1', 'PodSet', 'a');
}

/** What is on record of PodSet `a`, as `Kind namespace/name`. */
export function inventoryOf(world: OperatorWorld): unknown {
  return world.status('a').childInventory;
}

/** Who may write its status puts objects on record of PodSet `a`. */
export async function writeInventory(
  world: OperatorWorld,
  entries: readonly string[],
): Promise<void> {
  const object = podSetOf(world);
  assert.ok(object);
  world.edit(object, { status: { ...world.status('a'), childInventory: entries } });
  await world.settle();
}

/** Deletes PodSet `a` and lets everything come of it. */
export async function deletePodSet(world: OperatorWorld): Promise<void> {
  const object = podSetOf(world);
  assert.ok(object);
  world.cluster.takeWrites();
  world.remove(object);
  await world.settle();
}

/** Objects of a core kind in all namespaces, as `namespace/name`. */
export function placesOf(world: OperatorWorld, kind: string): readonly string[] {
  return world.cluster.server
    .list(gvkOf('v1', kind))
    .map(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}`)
    .sort();
}
