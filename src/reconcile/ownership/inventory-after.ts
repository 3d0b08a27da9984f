import { identityOf, identityOfObject } from '../identity.ts';
import { hasFinalizer, isControlledBy } from '../owner.ts';
import { entriesFor, placeOf } from '../pass/inventory.ts';
import { isDone, type Pass } from '../pass/pass.ts';
import { isKnown } from '../wake/settled.ts';
import { isChild } from './is-child.ts';
import { ownNamespace } from './placement.ts';

/**
 * `status.childInventory` after a pass: what no owner reference ties to the resource and is there, or may be. What is only wanted is
 * not on record: somebody could put his own object in its place. Undefined: there can be nothing.
 */
export function inventoryAfter(pass: Pass): readonly string[] | undefined {
  const { context, resource } = pass;
  const { plan } = context;
  if (!plan.isFinalizing && !hasFinalizer(resource, plan.name)) return undefined;
  const left = leftOnRecord(pass);
  if (left === undefined) return undefined;
  const made = [...madeBy(pass), ...keptBy(pass)];
  const notOurs = new Set([...goneAfter(pass), ...othersIn(pass)]);
  return entriesFor(Iterator.from([...left, ...made]).filter((identity) => !notOurs.has(identity)));
}

/**
 * What is on record, or was put there by the pass, and may still be there. Where nothing was on record all that looks like a child
 * counts; undefined: an informer cannot tell, so that there can be no record yet.
 */
export function leftOnRecord(pass: Pass): readonly string[] | undefined {
  const {
    state,
    found: { inventory },
  } = pass;
  const unanswered = [...state.strays].flatMap(([identity, { isUnanswered }]) =>
    isUnanswered === true ? [identity] : [],
  );
  const known = [...inventory.recorded.keys(), ...inventory.written];
  const left = known.filter((identity) => mayBeThere(pass, identity));
  const found = inventory.isOpen ? foundOpen(pass) : [];
  return found && [...left, ...unanswered, ...found];
}

function foundOpen(pass: Pass): readonly string[] | undefined {
  const found: string[] = [];
  for (const { informer, labelledWith } of pass.context.watches.childrenOf(pass.key)) {
    if (!isKnown(informer)) return undefined;
    for (const stored of labelledWith(pass.uid)) {
      const isTied = isControlledBy(stored.object, pass.uid);
      if (!isTied && isChild(pass, stored)) found.push(identityOfObject(stored.object));
    }
  }
  return found;
}

function madeBy({ did: { children } }: Pass): readonly string[] {
  const elements = [...children.values()].flatMap((result) => result.elements);
  return elements.flatMap(({ plan, live }) =>
    plan.isDetached && live !== undefined ? [identityOfObject(live.object)] : [],
  );
}

/** What is to go and stays for now, whatever made it a child: the definition may have said so in another way before. */
function keptBy({ did: { pruned } }: Pass): readonly string[] {
  return pruned
    .filter(({ state }) => state === 'held' || state === 'failed')
    .map(({ object }) => identityOfObject(object));
}

function goneAfter({ did: { pruned } }: Pass): readonly string[] {
  return pruned.filter(isDone).map(({ object }) => identityOfObject(object));
}

/** Somebody else has the name that a child wants. */
function othersIn(pass: Pass): readonly string[] {
  const elements = [...pass.did.children.values()].flatMap((result) => result.elements);
  return elements
    .filter(({ verdict }) => verdict.kind === 'conflict')
    .map(({ plan, name, namespace = ownNamespace(pass, plan) }) =>
      identityOf(plan.gvk, namespace, name),
    );
}

/** Not where an informer that can tell knows nothing of it, and no creation of it is unanswered. */
function mayBeThere(pass: Pass, identity: string): boolean {
  if (pass.state.strays.has(identity)) return true;
  const { kind, namespace, name } = placeOf(identity);
  const informer = pass.context.watches.informerOf(kind);
  if (informer?.state.kind !== 'synced') return true;
  const stored = informer.get(namespace, name);
  return stored !== undefined && isChild(pass, stored);
}
