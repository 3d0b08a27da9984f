import type { ChildPlan } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { definitionLabel, managedByLabel, managedByValue, ownerUidLabel } from '../names.ts';
import { isTerminating } from './ownership.ts';
import type { Pass } from './pass.ts';

/** May an object that we did not make be taken over (`adopt: IfUnowned`)? */
export function mayAdopt(pass: Pass, plan: ChildPlan, { object }: StoredObject): boolean {
  if (plan.adopt !== 'IfUnowned' || isTerminating(object)) return false;
  const { labels = {}, ownerReferences = [] } = object.metadata;
  if (ownerReferences.some(({ controller, uid }) => controller === true && uid !== pass.uid)) {
    return false;
  }
  return labels[managedByLabel] !== managedByValue || isLeftBehind(pass, labels);
}

/** What carries the labels of a resource of ours that is gone belongs to nobody any more; of other definitions nobody here can tell. */
function isLeftBehind(pass: Pass, labels: Readonly<Record<string, string>>): boolean {
  const { plan, watches } = pass.context;
  const owner = labels[ownerUidLabel] ?? '';
  return (
    labels[definitionLabel] === plan.name &&
    (owner === pass.uid || watches.resources.keyOfUid(owner) === undefined)
  );
}
