import type { ChildPlan } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import {
  definitionLabel,
  deletionPolicyAnnotation,
  hubLabel,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
} from '#util/stored-names.ts';
import { withAnnotation } from '../intent/marks.ts';
import { pathHash } from '../intent/path-hash.ts';
import { isOfAnotherHub } from '../ownership/is-child.ts';
import { isTerminating } from '../ownership-claims.ts';
import type { Pass } from '../pass/pass.ts';
import { isOwn } from '../removal/untracked-children.ts';
import type { DesiredElement } from './element-result.ts';

/** May an existing object be adopted (`adopt: IfUnowned`)? */
export function mayAdopt(pass: Pass, plan: ChildPlan, stored: StoredObject): boolean {
  const { object } = stored;
  if (plan.adopt !== 'IfUnowned' || isTerminating(object)) return false;
  const { labels = {}, ownerReferences = [] } = object.metadata;
  // Whether the owner of an object of another hub, or of a runtime in its cluster, is deleted is unknown here.
  const isManaged = labels[hubLabel] !== undefined || labels[managedByLabel] === managedByValue;
  if (isManaged && isOfAnotherHub(pass, stored)) return false;
  if (ownerReferences.some(({ controller, uid }) => controller === true && uid !== pass.uid)) {
    return false;
  }
  return labels[managedByLabel] !== managedByValue || isOwnerDeleted(pass, labels);
}

/** An object with the labels of a deleted resource of this definition has no owner. Owners of other definitions are unknown here. */
function isOwnerDeleted(pass: Pass, labels: Readonly<Record<string, string>>): boolean {
  const { plan, watches } = pass.context;
  const owner = labels[ownerUidLabel] ?? '';
  return (
    labels[definitionLabel] === plan.name &&
    (owner === pass.uid || watches.resources.keyOfUid(owner) === undefined)
  );
}

/** Did the object exist before? It holds content of others and must not be recreated. Objects that the child itself orphans do not count. */
export function isAdopted({ adopt, deletionPolicy }: ChildPlan, { object }: StoredObject): boolean {
  const isKept = object.metadata.annotations?.[deletionPolicyAnnotation] === 'Orphan';
  return isKept && (adopt === 'IfUnowned' || deletionPolicy === 'Delete');
}

/**
 * The intent for an object that existed before: an annotation keeps it when its resource is deleted, also without the definition. Objects
 * that Homeostat created are deleted as usual.
 */
export function asAdopted(
  pass: Pass,
  desired: DesiredElement,
  live: StoredObject | undefined,
): DesiredElement {
  const { plan, intent } = desired;
  if (live === undefined || plan.adopt !== 'IfUnowned' || plan.adoptedPolicy !== 'Orphan')
    return desired;
  const known = live.object.metadata.annotations?.[deletionPolicyAnnotation];
  if (known === undefined && isOwn(pass, live)) return desired;
  if (intent.manifest.metadata.annotations?.[deletionPolicyAnnotation] !== undefined)
    return desired;
  const manifest = withAnnotation(intent.manifest, deletionPolicyAnnotation, 'Orphan');
  return { ...desired, intent: { ...intent, manifest, pathHash: pathHash(manifest, plan.type) } };
}
