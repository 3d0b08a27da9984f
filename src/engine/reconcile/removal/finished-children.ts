import type { OperatorPlan } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import {
  childIdOf,
  identityOfRef,
  kindOf,
  parseIdentity,
  refOfStored,
  refTo,
} from '../identity.ts';
import { planOfChild } from '../ownership/is-child.ts';
import type { Pass } from '../pass/pass.ts';
import type { ResourceState, UntrackedChild } from '../pass/resource-state.ts';
import { hasEnded, runsOnce } from '../run-once.ts';

/** Keeps the last state of a child that runs once: it may have finished and removed itself before a pass saw it. */
export function rememberRemoved(
  plan: OperatorPlan,
  state: ResourceState | undefined,
  removed: StoredObject,
): void {
  const { object } = removed;
  const gvk = kindOf(removed);
  const child = planOfChild(plan, childIdOf(object), gvk);
  if (child === undefined || !runsOnce(child, object) || hasEnded(gvk, object) === false) return;
  state?.removed.set(identityOfRef(refOfStored(removed)), removed);
}

/**
 * Forgets the finished children that are no longer desired, as their objects would be deleted: they run again when they are desired again.
 * Not while deletions are held: the definition may change back.
 */
export function forgetFinished(
  { context, state, findings, effects }: Pass,
  isUndesired: (child: Pick<UntrackedChild, 'ref' | 'childId'>) => boolean,
): void {
  const { finished, desiredObjects } = findings;
  for (const identity of state.removed.keys())
    if (!desiredObjects.has(identity)) state.removed.delete(identity);
  if (finished.isEmpty || effects.pruned.some(({ isGuarded }) => isGuarded === true)) return;
  for (const [identity, { child: childId }] of finished.records) {
    const place = parseIdentity(identity);
    if (place === undefined) {
      finished.delete(identity);
      continue;
    }
    const gvk = { version: '', ...place.kind };
    const ref = refTo(gvk, place.namespace, place.name);
    const mayRunOnce = planOfChild(context.plan, childId, gvk)?.mayRunOnce === true;
    if (isUndesired({ ref, childId }) || (desiredObjects.has(identity) && !mayRunOnce))
      finished.delete(identity);
  }
}
