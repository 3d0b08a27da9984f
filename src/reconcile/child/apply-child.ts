import { allEnded } from '../pass/all-ended.ts';
import type { ChildResult, Pass } from '../pass/pass.ts';
import { applyInTurn, isInTurn } from './apply-in-turn.ts';
import { applyResolved } from './apply-resolved.ts';
import { heldBy } from './hold.ts';
import { keepElements } from './keep-applied.ts';
import type { ResolvedChild } from './resolve-child.ts';

/** Makes a child as it was resolved, all its elements at once unless it says otherwise. */
export async function applyChild(pass: Pass, resolved: ResolvedChild): Promise<ChildResult> {
  const { plan, isWanted, elements } = resolved;
  if (!isWanted) return { plan, resolution: 'unwanted', elements: [] };
  const held = await heldBy(pass, plan);
  const results = isInTurn(plan)
    ? await applyInTurn(pass, resolved, held)
    : await allEnded(elements.map((each) => applyResolved(pass, plan, { each, held })));
  if (elements.every(({ kind }) => kind === 'rendered')) {
    return { plan, resolution: 'wanted', elements: results };
  }
  const waits = results.some(({ problem }) => problem?.reason === 'Waiting');
  const failed = plan.isList && waits ? await keepElements(pass, plan) : [];
  return { plan, resolution: 'unknown', elements: [...results, ...failed] };
}
