import type { ChildPlan } from '../../compile/index.ts';
import { observeChildren } from '../observe/observe-children.ts';
import { observeReads } from '../observe/observe-reads.ts';
import { allEnded, type Pass } from '../pass/pass.ts';
import { applyChild } from './apply-child.ts';
import { seenWhileWanting } from './element-result.ts';
import { ensureFinalizer } from './ensure-finalizer.ts';
import { claimNames, type ResolvedChild, resolveChild } from './resolve-child.ts';

/** Renders the children of one tier and makes them so; the next tier is rendered with what the server answered. */
export async function wantTier(pass: Pass, tier: readonly ChildPlan[]): Promise<void> {
  await observeReads(pass);
  // One after the other: what they may compute ends at the same place each time.
  const resolved: ResolvedChild[] = [];
  for (const plan of tier) resolved.push(await resolveChild(pass, plan));
  const claimed = await ensureFinalizer(pass, claimNames(pass, resolved));
  const results = await allEnded(claimed.map((child) => applyChild(pass, child)));
  for (const result of results) {
    pass.did.children.set(result.plan.id, result);
    pass.wanting.setChild(result.plan.id, seenWhileWanting(result));
  }
}

/** The phase *wanting*: looks at the world and makes all children as they are wanted, tier by tier. */
export async function wantAll(pass: Pass): Promise<void> {
  await observeChildren(pass);
  for (const tier of pass.context.plan.tiers) await wantTier(pass, tier);
  await observeReads(pass);
}
