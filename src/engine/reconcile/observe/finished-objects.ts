import type { ChildPlan } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import { apiVersionOf } from '#util/gvk.ts';
import { childIdOf, identityOfObject, parseIdentity } from '../identity.ts';
import type { FinishedChild } from '../pass/finished-children.ts';
import type { PassFindings, PassInput } from '../pass/pass.ts';

type FinishedPass = Pick<PassInput, 'state'> & {
  readonly findings: Pick<PassFindings, 'finished'>;
};

/**
 * The objects of a child that have finished and removed themselves, in their last state: a template that reads its own object must render
 * the same as before. What only the object had, other than its status, is not recorded.
 */
export function finishedObjectsOf(
  { state, findings: { finished } }: FinishedPass,
  plan: ChildPlan,
  existing: readonly StoredObject[],
): readonly StoredObject[] {
  if (plan.mayRunOnce !== true || (finished.isEmpty && state.removed.size === 0)) return [];
  const known = new Set(existing.map(identityOfObject));
  const removed = [...state.removed].filter(
    ([identity, { object }]) => childIdOf(object) === plan.id && !known.has(identity),
  );
  for (const [identity] of removed) known.add(identity);
  const recorded = [...finished.records].flatMap(([identity, record]) =>
    record.child === plan.id && !known.has(identity) ? objectOf(plan, identity, record) : [],
  );
  return [...removed.map(([, stored]) => stored), ...recorded];
}

function objectOf(
  { gvk }: ChildPlan,
  identity: string,
  { uid, creationTimestamp, status }: FinishedChild,
): readonly StoredObject[] {
  const place = parseIdentity(identity);
  if (place === undefined) return [];
  const metadata = {
    name: place.name,
    ...(place.namespace !== undefined && { namespace: place.namespace }),
    ...(uid !== undefined && { uid }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
  };
  const object = { apiVersion: apiVersionOf(gvk), kind: gvk.kind, metadata, status };
  return [{ object, cluster: place.kind.cluster, appliedBy: [] }];
}
