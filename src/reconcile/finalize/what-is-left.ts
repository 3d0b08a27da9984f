import { KubeError, type StoredObject } from '../../kube/roles.ts';
import type { GroupKind, Gvk } from '../../util/gvk.ts';
import { type Problem, problemOfRequest, problemOfWaiting } from '../failure.ts';
import { inventoryAnnotationOf } from '../names.ts';
import { isChild } from '../ownership/is-child.ts';
import { noteRecorded } from '../ownership/recorded-strays.ts';
import { kindMap, kindText, parseKinds } from '../pass/inventory.ts';
import type { Pass } from '../pass/pass.ts';
import { aboutStray, findStrays } from '../removal/strays.ts';
import { objectText, open } from '../secrecy.ts';
import type { ChildWatch } from '../wake/child-watch.ts';
import { isKnown, listOf } from '../wake/settled.ts';

/** So many kinds that nothing but an annotation names are watched for a resource. */
const kindsAtMost = 20;

/** What there is of a resource's children, as far as it can be told. */
export interface Left {
  readonly objects: readonly StoredObject[];
  /** Why more may be left than is known: the resource must not go then. */
  readonly problems: readonly Problem[];
}

/** Looks for all that belongs to the resource: in the kinds of the definition, in those of the inventory, and for what was just made. */
export async function whatIsLeft(pass: Pass): Promise<Left> {
  const problems: Problem[] = [...(await watchInventory(pass))];
  // By UID: an informer of another version may hold the same object.
  const objects = new Map<string | undefined, StoredObject>();
  for (const watch of pass.context.watches.childrenOf(pass.key)) {
    const problem = whyUnknown(watch);
    if (problem !== undefined) problems.push(problem);
    for (const stored of watch.labelledWith(pass.uid)) {
      if (isChild(pass, stored)) objects.set(stored.object.metadata.uid, stored);
    }
  }
  noteRecorded(pass);
  const strays = await findStrays(pass, () => true);
  for (const stored of strays.objects) objects.set(stored.object.metadata.uid, stored);
  for (const { stray, problem } of strays.unknown) {
    const { gvk, name } = stray.ref;
    const what = objectText(gvk.kind, name, aboutStray(pass, stray));
    problems.push({ ...problem, message: `${what}: ${problem.message}` });
  }
  return { objects: [...objects.values()], problems };
}

/**
 * Watches the kinds that only the inventory knows of, while there is one. What it names and nobody serves is not there. Before there
 * is one, all kinds that the definition has or had are looked in.
 */
async function watchInventory(pass: Pass): Promise<readonly Problem[]> {
  const { cluster, watches } = pass.context;
  const watched = new Map([...watches.childKinds()].map((gvk) => [kindText(gvk), gvk]));
  const problems: Problem[] = [];
  const gvks: Gvk[] = [];
  for (const kind of kindsToLookIn(pass)) {
    try {
      const gvk = watched.get(kindText(kind)) ?? (await cluster.findKind(kind, pass.signal))?.gvk;
      if (gvk !== undefined) gvks.push(gvk);
    } catch (error) {
      if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
      problems.push(problemOfRequest(error, { about: open }));
    }
  }
  await watches.borrow(pass.key, gvks, pass.signal);
  return problems;
}

function kindsToLookIn({ resource, context, found: { inventory } }: Pass): Iterable<GroupKind> {
  const { kinds, plan } = context;
  const recorded = Iterator.from(inventory.recorded.values()).map(({ kind }) => kind);
  if (!inventory.isOpen) return kindMap(recorded).values();
  // Of an earlier version, which noted kinds.
  const noted = parseKinds(resource.metadata.annotations?.[inventoryAnnotationOf(plan.name)]);
  return kinds === undefined ? noted.slice(0, kindsAtMost) : kinds.values();
}

function whyUnknown({ informer }: ChildWatch): Problem | undefined {
  if (isKnown(informer)) return undefined;
  const { state, query } = informer;
  if (state.kind !== 'failing') return problemOfWaiting([listOf(informer)]);
  const { reason, message, code } = problemOfRequest(state.error, {
    about: open,
    gvk: query.gvk,
  });
  return { reason, message, code, kind: 'waiting' };
}
