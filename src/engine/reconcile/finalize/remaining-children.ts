import type { StoredObject } from '#kube/roles.ts';
import type { GroupKind, Gvk } from '#util/gvk.ts';
import { inventoryAnnotationOf } from '#util/stored-names.ts';
import { type Problem, problemOfRequest, problemOfWaiting, problemOfWatch } from '../failure.ts';
import { identityOfObject, inFixedOrder, kindsByText, kindText, parseKinds } from '../identity.ts';
import { isChild } from '../ownership/is-child.ts';
import { checkInventory } from '../ownership/maintain-inventory.ts';
import { isReachable } from '../pass/other-clusters.ts';
import { type Pass, requestError } from '../pass/pass.ts';
import { disclosureOfUntracked, findUntracked } from '../removal/untracked-children.ts';
import { objectText, publicContent } from '../secrecy.ts';
import type { ChildWatch } from '../watch/child-watch.ts';
import { isKnown, listOf } from '../watch/informer-waits.ts';

/** Maximum number of kinds that are watched for a resource only because of its annotation. */
const maxKinds = 20;

/** The remaining children of a resource, as far as known. */
export interface RemainingChildren {
  readonly objects: readonly StoredObject[];
  /** Why more children may remain: the resource must not be released then. */
  readonly problems: readonly Problem[];
}

/** Finds all children of the resource: in the kinds of the definition and of the inventory, and those created just before. */
export async function findRemaining(pass: Pass): Promise<RemainingChildren> {
  const problems: Problem[] = [
    ...(await watchRecordedKinds(pass)),
    ...((await pass.others?.search()) ?? []),
  ];
  const places = pass.others?.places;
  // By identity: informers of two versions may have the same object.
  const objects = new Map<string, StoredObject>();
  for (const watch of pass.context.watches.childrenOf(pass.key)) {
    const { cluster } = watch.gvk;
    // Clusters that cannot be reached are among the problems already.
    if (!isReachable(pass, cluster)) continue;
    const isSearched = cluster === undefined || places?.has(cluster) === true;
    const problem = isSearched ? informerProblem(watch) : undefined;
    if (problem !== undefined) problems.push(problem);
    for (const stored of watch.labelledWith(pass.uid)) {
      if (isChild(pass, stored)) objects.set(identityOfObject(stored), stored);
    }
  }
  checkInventory(pass);
  const untracked = await findUntracked(pass, () => true);
  for (const stored of untracked.objects) objects.set(identityOfObject(stored), stored);
  for (const { child, problem } of untracked.unknown) {
    // Its cluster is among the problems already.
    if (problem.reason === 'ClusterUnreachable') continue;
    const { gvk, name } = child.ref;
    const what = objectText(gvk.kind, name, disclosureOfUntracked(pass, child));
    problems.push({ ...problem, message: `${what}: ${problem.message}` });
  }
  return { objects: inFixedOrder(objects.values()), problems };
}

/**
 * Watches the kinds that only the inventory names. A kind that is not served has no objects. Without an inventory, all kinds are searched of
 * which the definition has or had children.
 */
async function watchRecordedKinds(pass: Pass): Promise<readonly Problem[]> {
  const { cluster, watches } = pass.context;
  const watched = new Map([...watches.childKinds()].map((gvk) => [kindText(gvk), gvk]));
  const problems: Problem[] = [];
  const gvks: Gvk[] = [];
  for (const kind of kindsToSearch(pass)) {
    try {
      const gvk =
        watched.get(kindText(kind)) ??
        (await cluster.findKind({ ...kind, cluster: undefined }, pass.signal))?.gvk;
      if (gvk !== undefined) gvks.push(gvk);
    } catch (error) {
      problems.push(problemOfRequest(requestError(error, pass), { about: publicContent }));
    }
  }
  await watches.watchInventoryKinds(pass.key, gvks, pass.signal);
  return problems;
}

function kindsToSearch({ resource, context, findings: { inventory } }: Pass): Iterable<GroupKind> {
  const { childKinds, plan } = context;
  const recorded = Iterator.from(inventory.recorded.values())
    .map(({ kind }) => kind)
    .filter(({ cluster }) => cluster === undefined);
  if (!inventory.isMissing) return kindsByText(recorded).values();
  // Written by an earlier version, which recorded kinds.
  const noted = parseKinds(resource.metadata.annotations?.[inventoryAnnotationOf(plan.name)]);
  return childKinds === undefined ? noted.slice(0, maxKinds) : childKinds.values();
}

function informerProblem({ informer }: ChildWatch): Problem | undefined {
  if (isKnown(informer)) return undefined;
  const { state, query } = informer;
  return state.kind === 'failing'
    ? problemOfWatch(state.error, query.gvk)
    : problemOfWaiting([listOf(informer)]);
}
