import { identityOf, identityOfObject, kindAt, parseIdentity, refTo } from '../identity.ts';
import { hasFinalizer, isControlledBy } from '../ownership-claims.ts';
import { entriesFor } from '../pass/inventory.ts';
import { isGivenUp, isReachable } from '../pass/other-clusters.ts';
import { isRemoved, loggerOf, type Pass } from '../pass/pass.ts';
import { isKnown } from '../watch/informer-waits.ts';
import { isChild } from './is-child.ts';
import { ownNamespace } from './namespace-of.ts';

/**
 * `status.childInventory` after a pass: the children without an owner reference that exist, or may exist. Objects that are only desired are
 * not recorded: another user could create an object of that name. Undefined: there is nothing to record.
 */
export function inventoryAfter(pass: Pass): readonly string[] | undefined {
  const { context, resource } = pass;
  const { plan } = context;
  if (!plan.needsFinalizer && !hasFinalizer(resource, plan.name)) return undefined;
  const remaining = remainingObjects(pass);
  if (remaining === undefined) return undefined;
  const created = [...createdBy(pass), ...keptBy(pass)];
  const excluded = new Set([...removedBy(pass), ...foreignObjects(pass)]);
  return entriesFor(
    Iterator.from([...remaining, ...created]).filter((identity) => !excluded.has(identity)),
  );
}

/**
 * The recorded objects, with those that the pass added, that may still exist. Without an inventory, all objects that look like a child.
 * Undefined: an informer has not synced, so that no inventory can be written yet.
 */
export function remainingObjects(pass: Pass): readonly string[] | undefined {
  const { state, findings } = pass;
  const { inventory } = findings;
  const unanswered = [...state.untracked].flatMap(([identity, { isUnanswered }]) =>
    isUnanswered === true ? [identity] : [],
  );
  const known = [...inventory.recorded.keys(), ...inventory.written];
  const existing = known.filter((identity) => mayExist(pass, identity));
  const found = inventory.isMissing ? untiedChildren(pass) : [];
  return found && [...existing, ...unanswered, ...found];
}

function untiedChildren(pass: Pass): readonly string[] | undefined {
  const found: string[] = [];
  // A cluster that cannot be reached may have objects of a process that was killed before it recorded them.
  for (const cluster of pass.others?.places ?? [])
    if (!isReachable(pass, cluster)) return undefined;
  for (const { informer, labelledWith } of pass.context.watches.childrenOf(pass.key)) {
    if (!isKnown(informer)) return undefined;
    for (const stored of labelledWith(pass.uid)) {
      const isTied = isControlledBy(stored.object, pass.uid);
      if (!isTied && isChild(pass, stored)) found.push(identityOfObject(stored));
    }
  }
  return found;
}

function createdBy({ effects: { children } }: Pass): readonly string[] {
  const elements = [...children.values()].flatMap((result) => result.elements);
  return elements.flatMap(({ plan, live }) =>
    // One that has removed itself does not exist any more.
    plan.isDetached && live?.object.metadata.resourceVersion !== undefined
      ? [identityOfObject(live)]
      : [],
  );
}

/** Objects that are to be deleted and kept for now, even if they would no longer count as children. */
function keptBy({ effects: { pruned } }: Pass): readonly string[] {
  return pruned.filter(({ state }) => state === 'held' || state === 'failed').map(identityOfObject);
}

function removedBy({ effects: { pruned } }: Pass): readonly string[] {
  return pruned.filter(isRemoved).map(identityOfObject);
}

/** Objects of another owner under the name of a desired child. */
function foreignObjects(pass: Pass): readonly string[] {
  const elements = [...pass.effects.children.values()].flatMap((result) => result.elements);
  return elements
    .filter(({ change, problem }) => change === undefined && problem?.owner !== undefined)
    .map(({ plan, name, cluster, namespace = ownNamespace(pass, plan, cluster) }) =>
      identityOf(kindAt(plan.gvk, cluster), namespace, name),
    );
}

/** The other clusters that have or may have objects of the resource after a pass. Undefined: unknown. */
export function clustersAfter(pass: Pass): ReadonlySet<string> | undefined {
  const remaining = remainingObjects(pass);
  if (remaining === undefined) return undefined;
  const removed = new Set(removedBy(pass));
  const identities = [...remaining, ...createdBy(pass), ...keptBy(pass)];
  return new Set(
    identities
      .filter((identity) => !removed.has(identity))
      .flatMap((identity) => parseIdentity(identity)?.kind.cluster ?? []),
  );
}

/** False: a synced informer does not have it, and no create request of it is unanswered. */
function mayExist(pass: Pass, identity: string): boolean {
  const place = parseIdentity(identity);
  if (place === undefined) return false;
  const { kind, namespace, name } = place;
  if (isGivenUp(pass, kind.cluster)) return false;
  if (pass.state.untracked.has(identity)) return true;
  const informer = pass.context.watches.informerOf(kind);
  if (informer?.state.kind !== 'synced') return true;
  const stored = informer.get(namespace, name);
  return stored !== undefined && isChild(pass, stored);
}

/**
 * Finds recorded objects that no informer has: they may have lost their label while no process was running. They are looked up on the
 * server before they would be removed. Once per process: informers show later losses.
 */
export function checkInventory(pass: Pass): void {
  const { state, findings } = pass;
  const { inventory, desiredObjects } = findings;
  if (state.isInventoryChecked) return;
  state.isInventoryChecked = true;
  for (const [identity, childId] of childIdsByIdentity(pass)) {
    const place = parseIdentity(identity);
    if (place === undefined) continue;
    const { cluster } = place.kind;
    const informer = pass.context.watches.informerOf(place.kind);
    if (informer === undefined) {
      // A cluster that cannot be reached now is checked later.
      if (cluster !== undefined && !isGivenUp(pass, cluster)) state.isInventoryChecked = false;
      continue;
    }
    // Repeated until the informer has synced.
    if (informer.state.kind !== 'synced') state.isInventoryChecked = false;
    else if (
      !desiredObjects.has(identity) &&
      informer.get(place.namespace, place.name) === undefined
    ) {
      const ref = refTo(kindAt(informer.query.gvk, cluster), place.namespace, place.name);
      if (!state.untracked.has(identity)) state.untracked.set(identity, { ref, childId });
    }
  }
  if (inventory.ignoredCount > 0)
    loggerOf(pass).warn(
      { ignored: inventory.ignoredCount },
      'Ignoring inventory entries that are invalid, of unknown kinds, or beyond the limit',
    );
}

/** By identity, the child ids; empty where unknown. */
function childIdsByIdentity({ findings: { inventory } }: Pass): ReadonlyMap<string, string> {
  const unknown = Iterator.from(inventory.recorded.keys()).map(
    (identity) => [identity, ''] as const,
  );
  return new Map([...unknown, ...inventory.reported]);
}
