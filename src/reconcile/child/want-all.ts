import { observeChildren } from '../observe/observe-children.ts';
import { observeReads } from '../observe/observe-reads.ts';
import type { Pass } from '../pass/pass.ts';
import { wantTier } from './want-tier.ts';

/** The phase *wanting*: looks at the world and makes all children as they are wanted, tier by tier. */
export async function wantAll(pass: Pass): Promise<void> {
  await observeChildren(pass);
  for (const tier of pass.context.plan.tiers) await wantTier(pass, tier);
  await observeReads(pass);
}
