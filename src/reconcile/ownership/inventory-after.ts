import { ownNamespace } from '../child/placement.ts';
import { hasFinalizer } from '../finalize/finalizer.ts';
import type { Pass } from '../pass/pass.ts';
import { isDone } from '../removal/remove-objects.ts';
import { identityOf } from '../wake/child-watch.ts';
import { entriesFor, placeOf } from './inventory.ts';
import { identityOfObject, isChild } from './is-child.ts';

/**
 * `status.childInventory` after a pass: what no owner reference ties to the resource and is there, or may be. What is only wanted is
 * not on record: somebody could put his own object in its place. Undefined: there can be nothing.
 */
export function inventoryAfter(pass: Pass): readonly string[] | undefined {
  const { context, resource, inventory } = pass;
  const { plan } = context;
  if (!plan.isFinalizing && !hasFinalizer(resource, plan.name)) return undefined;
  const made = new Set([...madeBy(pass), ...keptBy(pass)]);
  const candidates = new Set([...inventory.recorded.keys(), ...inventory.written, ...made]);
  const notOurs = new Set([...goneAfter(pass), ...othersIn(pass)]);
  return entriesFor(
    Iterator.from(candidates).filter(
      (identity) => !notOurs.has(identity) && (made.has(identity) || mayBeThere(pass, identity)),
    ),
  );
}

function madeBy({ children }: Pass): readonly string[] {
  const elements = [...children.values()].flatMap((result) => result.elements);
  return elements.flatMap(({ plan, live }) =>
    plan.isDetached && live !== undefined ? [identityOfObject(live.object)] : [],
  );
}

/** What is to go and stays for now, whatever made it a child: the definition may have said so in another way before. */
function keptBy({ pruned }: Pass): readonly string[] {
  return pruned
    .filter(({ state }) => state === 'held' || state === 'failed')
    .map(({ object }) => identityOfObject(object));
}

function goneAfter({ pruned }: Pass): readonly string[] {
  return pruned.filter(isDone).map(({ object }) => identityOfObject(object));
}

/** Somebody else has the name that a child wants. */
function othersIn(pass: Pass): readonly string[] {
  const elements = [...pass.children.values()].flatMap((result) => result.elements);
  return elements
    .filter(({ verdict }) => verdict.kind === 'conflict')
    .map(({ plan, name, namespace = ownNamespace(pass, plan) }) =>
      identityOf(plan.gvk, namespace, name),
    );
}

/** Not where an informer that can tell knows nothing of it, and no creation of it is unanswered. */
export function mayBeThere(pass: Pass, identity: string): boolean {
  if (pass.state.strays.has(identity)) return true;
  const { kind, namespace, name } = placeOf(identity);
  const informer = pass.context.watches.informerOf(kind);
  if (informer?.state.kind !== 'synced') return true;
  const stored = informer.get(namespace, name);
  return stored !== undefined && isChild(pass, stored);
}
