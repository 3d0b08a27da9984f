import type { StoredObject } from '../../kube/roles.ts';
import type { Gvk } from '../../util/gvk.ts';
import { childIdOf } from '../child-id.ts';
import { hasFinalizer } from '../finalize/inventory.ts';
import { fieldManagerOf } from '../names.ts';
import { refOfStored } from '../removal/ref-of-stored.ts';
import { removeObjects } from '../removal/remove-objects.ts';
import { failedStray, findStrays } from '../removal/strays.ts';
import type { Stray } from '../resource-state.ts';
import { identityOf } from '../wake/child-watch.ts';
import { isOurs } from './ownership.ts';
import type { ChildResult, ElementResult, Pass } from './pass.ts';

/**
 * Deletes what is ours and not wanted, child by child (definition.md section 4): a child that waits or fails keeps what it has,
 * and keeps no other from losing its own. What no child of the definition asks for any more goes only after a whole success.
 */
export async function prune(pass: Pass): Promise<void> {
  const isWholeSuccess = isWhole(pass);
  // By UID: an informer of another version may hold the same object.
  const leaving = new Map<string | undefined, StoredObject>();
  for (const watch of pass.context.watches.allChildren()) {
    if (watch.informer.state.kind !== 'synced') continue;
    for (const stored of watch.labelledWith(pass.uid)) {
      if (isToGo(pass, stored, isWholeSuccess)) leaving.set(stored.object.metadata.uid, stored);
    }
  }
  const strays = await findStrays(pass, (each) => isUnwanted(pass, each, isWholeSuccess));
  for (const stray of strays.objects) leaving.set(stray.object.metadata.uid, stray);
  pass.pruned.push(...strays.unknown.map(failedStray));
  if (leaving.size === 0) return;
  pass.pruned.push(...(await removeObjects(pass, [...leaving.values()], { why: 'Not wanted' })));
}

function isWhole({ children, context, reads }: Pass): boolean {
  const readsAreFine = [...reads.values()].every(({ problem }) => problem === undefined);
  return readsAreFine && context.plan.children.every(({ id }) => isSettled(children.get(id)));
}

/** Are `when`, `forEach` and all elements as wanted, so that what is not among them is not wanted? */
function isSettled(result: ChildResult | undefined): boolean {
  const isSettledElement = ({ problem }: ElementResult) =>
    problem === undefined || problem.isPartial === true;
  return result?.elements.every(isSettledElement) ?? false;
}

function isToGo(pass: Pass, stored: StoredObject, isWholeSuccess: boolean): boolean {
  const owner = { definition: pass.context.plan.name, ownerUid: pass.uid };
  if (!isOurs(stored, owner) || !isWhereOursMayBe(pass, stored)) return false;
  const ref = refOfStored(stored.object);
  const childId = childIdOf(stored.object);
  return isUnwanted(pass, { ref, childId }, isWholeSuccess);
}

/** Is it known that no child of the definition wants this object of ours? */
function isUnwanted(
  { claims, children }: Pass,
  { ref: { gvk, namespace, name }, childId }: Pick<Stray, 'ref' | 'childId'>,
  isWholeSuccess: boolean,
): boolean {
  if (claims.has(identityOf(gvk, namespace, name))) return false;
  const result = children.get(childId);
  // A child that changed its kind has dropped the objects of the old one.
  const isDropped = result === undefined || !isSameKind(result.plan.gvk, gvk);
  return isDropped ? isWholeSuccess : isSettled(result);
}

/**
 * May an object in that place be ours? What looks like ours elsewhere is a copy, unless we have applied it ourselves, in a resource
 * that waits for us.
 */
export function isWhereOursMayBe(
  { context: { plan }, namespace: own, resource }: Pass,
  { object: { metadata }, appliedBy }: StoredObject,
): boolean {
  if (own === undefined || metadata.namespace === own) return true;
  const waitsForUs = plan.isFinalizing || hasFinalizer(resource, plan.name);
  return waitsForUs && appliedBy.includes(fieldManagerOf(plan.name));
}

/** The same in whatever version. */
function isSameKind(a: Gvk, b: Gvk): boolean {
  return a.group === b.group && a.kind === b.kind;
}
