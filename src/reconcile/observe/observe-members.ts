import type { ChildPlan } from '../../compile/index.ts';
import { type GroupKind, type Gvk, gvkKey, isSameKind } from '../../util/gvk.ts';
import { type Problem, problemOfMember, problemOfWatch } from '../failure.ts';
import { type Pass, requestError } from '../pass/pass.ts';
import type { ChildWatch } from '../watch/child-watch.ts';

/** Registers the dependency on member clusters, and watches the children of the resource in those that are usable. */
export async function observeMembers(pass: Pass, names: Iterable<string>): Promise<void> {
  const { context, members, signal } = pass;
  for (const name of names) {
    dependOnMember(pass, name);
    if (members?.isUsable(name) !== true) continue;
    await context.watches.watchMember(name, await kindsIn(pass, name), signal);
  }
}

/** Every change of the member enqueues the resource. */
export function dependOnMember({ dependencies, members, context, key }: Pass, name: string): void {
  dependencies.member(name);
  // A change since the pass began has enqueued nothing.
  if (members?.isStale(name) === true) context.watches.queue.enqueueFollowUp(key);
}

/** The kinds that the resource may have children of in a member: those that the definition places, and the recorded ones. */
async function kindsIn(pass: Pass, cluster: string): Promise<readonly Gvk[]> {
  const { plan, childKinds } = pass.context;
  const { recorded, isMissing } = pass.findings.inventory;
  const found = plan.children.flatMap(({ placement, gvk }) => (placement ? [gvk] : []));
  const kinds = [...recorded.values()].map(({ kind }) => kind);
  // Without an inventory, it may have children of every kind that the definition had.
  const all = [
    ...kinds.filter((kind) => kind.cluster === cluster),
    ...(isMissing ? (childKinds?.values() ?? []) : []),
  ];
  for (const kind of all) {
    if (found.some((gvk) => isSameKind(gvk, kind))) continue;
    const gvk = await findKind(pass, { ...kind, cluster });
    if (gvk !== undefined) found.push(gvk);
  }
  return found;
}

/** Undefined: it is not served there, or unknown now: its recorded objects then count as existing. */
async function findKind(pass: Pass, kind: GroupKind): Promise<Gvk | undefined> {
  try {
    return (await pass.context.cluster.findKind(kind, pass.signal))?.gvk;
  } catch (error) {
    requestError(error, pass);
    return undefined;
  }
}

/** The watches that have the objects of a child: one on the hub, or one in each usable member. */
export function watchesOf(
  { context: { watches }, members, key }: Pass,
  { gvk, placement }: Pick<ChildPlan, 'gvk' | 'placement'>,
): readonly ChildWatch[] {
  if (placement === undefined) return [watches.children(gvk)];
  return [...watches.childrenOf(key)].filter(
    ({ gvk: { cluster, ...watched } }) =>
      cluster !== undefined &&
      gvkKey(watched) === gvkKey(gvk) &&
      members?.isUsable(cluster) === true,
  );
}

/** Why objects of a kind cannot be read or written in its member now; undefined: they can, or the kind is on the hub. */
export function memberProblem(pass: Pass, gvk: Gvk): Problem | undefined {
  const { cluster } = gvk;
  if (cluster === undefined) return undefined;
  const unusable = memberUnusable(pass, cluster);
  if (unusable !== undefined) return unusable;
  const watch = pass.context.watches.findChildren(gvk);
  const state = watch?.informer.state;
  if (state?.kind === 'synced') return undefined;
  if (state?.kind === 'failing' && state.error.code !== 'member-unreachable') {
    const problem = problemOfWatch(state.error, gvk);
    return { ...problem, message: `Cluster "${cluster}": ${problem.message}`, isUnknown: true };
  }
  pass.effects.expectsMember = true;
  return problemOfMember(cluster, `its ${gvk.kind} objects are not listed yet`);
}

/** Why a member is not usable; undefined: it is. */
export function memberUnusable({ members, effects }: Pass, cluster: string): Problem | undefined {
  if (members?.isUsable(cluster) === true) return undefined;
  if (members?.isExpected(cluster) === true) effects.expectsMember = true;
  return problemOfMember(cluster, members?.reasonOf(cluster) ?? 'it is not connected');
}
