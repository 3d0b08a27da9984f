import type { ChildPlan } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import { hasOnlyUpdatedPods } from '#util/readiness/updated-pods.ts';
import { childPlanOf } from '../ownership/is-child.ts';
import type { ChildResult, Pass } from '../pass/pass.ts';
import { isPrunedAfterReady } from '../removal/removal-rules.ts';
import { readinessOfElement } from './readiness.ts';
import { keptBySurge, surgeOf } from './surge.ts';

/** Objects that are no longer desired and kept for now, with the reason, for people. */
export type Deferrals = ReadonlyMap<StoredObject, string>;

type Rule = (pass: Pass, leaving: readonly StoredObject[]) => Promise<Deferrals>;

/** Of rules that keep one object, the first counts. */
const rules: readonly Rule[] = [keptInUse, keptForSuccessors];

/** Which of the objects that are no longer desired are kept until others are ready. It is asked in each pass. */
export async function deferralsOf(
  pass: Pass,
  leaving: readonly StoredObject[],
): Promise<Deferrals> {
  const all = new Map<StoredObject, string>();
  for (const rule of rules) {
    for (const [stored, reason] of await rule(pass, leaving)) {
      if (!all.has(stored)) all.set(stored, reason);
    }
  }
  return all;
}

/** Objects that earlier Pods may still use (`prune: AfterReady`), until all children use the desired ones. */
async function keptInUse(pass: Pass, leaving: readonly StoredObject[]): Promise<Deferrals> {
  const found = leaving.filter((stored) => isPrunedAfterReady(pass, stored));
  const waiting = found.length === 0 ? [] : await childrenInTransit(pass);
  if (waiting.length === 0) return new Map();
  const reason = `kept until its successor is in use: waiting for ${waiting.join(', ')}`;
  return new Map(found.map((stored) => [stored, reason]));
}

/** Children that are not ready, or that have Pods of an earlier template although they are, for people. */
async function childrenInTransit(pass: Pass): Promise<readonly string[]> {
  const waiting: string[] = [];
  for (const { id } of pass.context.plan.children) {
    const child = pass.effects.children.get(id);
    const reason = child === undefined ? `children.${id}` : await unusedReason(pass, child);
    if (reason !== undefined) waiting.push(reason);
  }
  return waiting;
}

async function unusedReason(pass: Pass, child: ChildResult): Promise<string | undefined> {
  const { plan, resolution, elements } = child;
  if (resolution === 'unknown') return `children.${plan.id}`;
  for (const element of elements) {
    const { state } = await readinessOfElement(pass.desiredPhase, element);
    if (state !== 'Ready') return `children.${plan.id} to be ready`;
    // The author's `ready`, an `OnDelete` strategy or a partition may be content with earlier Pods.
    if (element.live !== undefined && !hasOnlyUpdatedPods(element.live.object))
      return `the Pods of children.${plan.id} to be updated`;
  }
  return undefined;
}

/** Objects with earlier names (`maxSurge`), until enough of the new ones are ready. */
async function keptForSuccessors(pass: Pass, leaving: readonly StoredObject[]): Promise<Deferrals> {
  const byChild = new Map<ChildPlan['id'], StoredObject[]>();
  for (const stored of leaving) {
    const plan = childPlanOf(pass, stored);
    if (plan === undefined || surgeOf(plan) === undefined) continue;
    byChild.set(plan.id, [...(byChild.get(plan.id) ?? []), stored]);
  }
  const kept = new Map<StoredObject, string>();
  for (const [id, earlier] of byChild) {
    const child = pass.effects.children.get(id);
    const surge = child && surgeOf(child.plan);
    if (child === undefined || surge === undefined) continue;
    const { plan, elements } = child;
    const reason = `kept until its successor is ready: waiting for children.${id} to be ready`;
    for (const stored of await keptBySurge(pass, surge, { plan, elements, earlier }))
      kept.set(stored, reason);
  }
  return kept;
}
