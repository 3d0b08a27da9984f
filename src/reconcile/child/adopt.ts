import type { ChildPlan } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { pathHash } from '../intent/path-hash.ts';
import {
  definitionLabel,
  deletionPolicyAnnotation,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
} from '../names.ts';
import { isTerminating } from '../owner.ts';
import type { Pass } from '../pass/pass.ts';
import type { WantedElement } from './element-result.ts';

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

/** Was it there before us? It holds what others wrote: nothing we could make would be the same. What a child orphans of its own does not count. */
export function isTakenOver(
  { adopt, deletionPolicy }: ChildPlan,
  { object }: StoredObject,
): boolean {
  const isKept = object.metadata.annotations?.[deletionPolicyAnnotation] === 'Orphan';
  return isKept && (adopt === 'IfUnowned' || deletionPolicy === 'Delete');
}

/**
 * The intent for an object that was there before us: it says that it is to stay when we go, so that this is known without the definition
 * too. What we have made ourselves goes as ever.
 */
export function asAdopted(
  wanted: WantedElement,
  live: StoredObject,
  isOurs: boolean,
): WantedElement {
  const { plan, intent } = wanted;
  if (plan.adopt !== 'IfUnowned' || plan.adoptedPolicy !== 'Orphan') return wanted;
  const known = live.object.metadata.annotations?.[deletionPolicyAnnotation];
  if (isOurs && known === undefined) return wanted;
  const { metadata, ...rest } = intent.manifest;
  if (metadata.annotations?.[deletionPolicyAnnotation] !== undefined) return wanted;
  const annotations = { ...metadata.annotations, [deletionPolicyAnnotation]: 'Orphan' };
  const manifest = { ...rest, metadata: { ...metadata, annotations } };
  return { ...wanted, intent: { ...intent, manifest, pathHash: pathHash(manifest, plan.type) } };
}
