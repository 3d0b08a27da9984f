import assert from 'node:assert/strict';
import type { OperatorPlan } from '#compile';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type HandmadeChild, type HandmadePlan, planOf } from './handmade-plan.ts';
import { OperatorHarness } from './operator-harness.ts';

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

export interface DeletionHarness {
  readonly harness: OperatorHarness;
  readonly plan: OperatorPlan;
}

/** A PodSet `a` of the plan, at rest. */
export function deletionHarness(plan: HandmadePlan): Promise<DeletionHarness> {
  return deletionHarnessOf(planOf(plan));
}

/** The same of a plan that was made already. */
export async function deletionHarnessOf(plan: OperatorPlan): Promise<DeletionHarness> {
  const harness = new OperatorHarness(plan);
  await harness.start();
  harness.podSet('a');
  await harness.settle();
  return { harness, plan };
}

/** PodSet `a` as the server has it. */
export function podSetOf(harness: OperatorHarness): KubeObject | undefined {
  return harness.get('apps.example.com/v1', 'PodSet', 'a');
}

/** What is on record of PodSet `a`, as `Kind namespace/name`. */
export function inventoryOf(harness: OperatorHarness): unknown {
  return harness.status('a').childInventory;
}

/** Who may write its status puts objects on record of PodSet `a`. */
export async function writeInventory(
  harness: OperatorHarness,
  entries: readonly string[],
): Promise<void> {
  const object = podSetOf(harness);
  assert.ok(object);
  harness.edit(object, { status: { ...harness.status('a'), childInventory: entries } });
  await harness.settle();
}

/** Deletes PodSet `a` and lets everything come of it. */
export async function deletePodSet(harness: OperatorHarness): Promise<void> {
  const object = podSetOf(harness);
  assert.ok(object);
  harness.cluster.takeWrites();
  harness.remove(object);
  await harness.settle();
}

/** Objects of a core kind in all namespaces, as `namespace/name`. */
export function placesOf(harness: OperatorHarness, kind: string): readonly string[] {
  return harness.cluster.server
    .list(gvkOf('v1', kind))
    .map(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}`)
    .sort();
}
