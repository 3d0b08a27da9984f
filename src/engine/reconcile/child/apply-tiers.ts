import type { ChildPlan } from '#compile';
import { identityOfObject } from '../identity.ts';
import { observeChildren } from '../observe/observe-children.ts';
import { observeReads } from '../observe/observe-reads.ts';
import {
  allSettledOrThrow,
  type Pass,
  type PassFindings,
  type PrunedObject,
} from '../pass/pass.ts';
import { saveFinished } from '../resource/write-metadata.ts';
import type { Watches } from '../watch/watches.ts';
import { applyChild } from './apply-child.ts';
import { inputForChildren } from './element-result.ts';
import { ensureFinalizer } from './ensure-finalizer.ts';
import { clustersOf, type ResolvedChild, rejectDuplicates, resolveChild } from './resolve-child.ts';

interface CleanupPass extends Pick<Pass, 'uid' | 'state'> {
  readonly findings: Pick<PassFindings, 'desiredObjects'>;
  readonly effects: { readonly pruned: readonly Pick<PrunedObject, 'object'>[] };
  readonly context: { readonly watches: Pick<Watches, 'allChildren'> };
}

/**
 * Drops the entries about objects that are no longer desired, and the server's responses for children that are neither desired nor exist:
 * their names may never return.
 */
export function forgetUndesired({ uid, state, context, findings, effects }: CleanupPass): void {
  const { desiredObjects } = findings;
  let existing: ReadonlySet<string> | undefined;
  const isDesired = (identity: string) => desiredObjects.has(identity);
  state.ledger.retain({
    isDesired,
    isLeaving: (deleted) => effects.pruned.some(({ object }) => object.metadata.uid === deleted),
  });
  state.responses.retain((identity) => {
    // Responses to a patch belong to an object of another owner.
    if (isDesired(identity) || identity.startsWith('patch ')) return true;
    existing ??= identitiesOf(context.watches, uid);
    return existing.has(identity);
  });
  for (const identity of state.replaced.keys()) {
    if (!desiredObjects.has(identity)) state.replaced.delete(identity);
  }
}

function identitiesOf(watches: Pick<Watches, 'allChildren'>, uid: string): ReadonlySet<string> {
  const identities = new Set<string>();
  for (const watch of watches.allChildren()) {
    for (const stored of watch.labelledWith(uid)) identities.add(identityOfObject(stored));
  }
  return identities;
}

/** Renders and applies the children of one tier. The next tier is rendered with the server's responses. */
export async function applyTier(pass: Pass, tier: readonly ChildPlan[]): Promise<void> {
  const { context, key } = pass;
  context.trace?.onPhase(key, 'reads');
  await observeReads(pass);
  context.trace?.onPhase(key, 'children');
  // In sequence: so that a limit is always exceeded at the same place.
  const resolved: ResolvedChild[] = [];
  for (const plan of tier) resolved.push(await resolveChild(pass, plan));
  await pass.others?.observe(clustersOf(resolved));
  const claimed = await ensureFinalizer(pass, rejectDuplicates(pass, resolved));
  const results = await allSettledOrThrow(claimed.map((child) => applyChild(pass, child)));
  for (const result of results) {
    pass.effects.children.set(result.plan.id, result);
    pass.desiredPhase.setChild(result.plan.id, inputForChildren(result));
  }
  await saveFinished(pass);
}

/** The phase *wanting*: observes the cluster and applies all children, tier by tier. */
export async function applyChildren(pass: Pass): Promise<void> {
  await pass.others?.observe(pass.others.places);
  await observeChildren(pass);
  for (const tier of pass.context.plan.tiers) await applyTier(pass, tier);
  await observeReads(pass);
}
