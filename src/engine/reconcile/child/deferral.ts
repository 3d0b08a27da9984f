import { hasOnlyUpdatedPods } from '#util/readiness/updated-pods.ts';
import type { ChildResult, Pass } from '../pass/pass.ts';
import { readinessOfElement } from './readiness.ts';

/**
 * What the deletion of objects that earlier Pods may still use waits for (`prune: AfterReady`), for people: children that are not ready, or
 * that have Pods of an earlier template although they are. Undefined: all children use the desired objects.
 */
export async function deferralReason(pass: Pass): Promise<string | undefined> {
  const waiting: string[] = [];
  for (const { id } of pass.context.plan.children) {
    const child = pass.effects.children.get(id);
    const reason = child === undefined ? `children.${id}` : await unusedReason(pass, child);
    if (reason !== undefined) waiting.push(reason);
  }
  return waiting.length === 0 ? undefined : waiting.join(', ');
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
