import type { ChildPlan } from '../../compile/index.ts';
import { allEnded } from './all-ended.ts';
import { applyElement } from './apply-element.ts';
import { blockedElement } from './element-result.ts';
import { heldBy } from './hold.ts';
import type { ChildResult, ElementResult, Pass } from './pass.ts';
import type { ResolvedChild, ResolvedElement } from './resolve-child.ts';

/** Makes a child as it was resolved, all its elements at once. */
export async function applyChild(pass: Pass, resolved: ResolvedChild): Promise<ChildResult> {
  const { plan, isWanted, elements } = resolved;
  if (!isWanted) return { plan, resolution: 'unwanted', elements: [] };
  const held = await heldBy(pass, plan);
  const results = await allEnded(elements.map((each) => applyResolved(pass, plan, { each, held })));
  const known = elements.every(({ kind }) => kind === 'rendered');
  return { plan, resolution: known ? 'wanted' : 'unknown', elements: results };
}

function applyResolved(
  pass: Pass,
  plan: ChildPlan,
  { each, held }: { readonly each: ResolvedElement; readonly held: readonly string[] },
): Promise<ElementResult> {
  if (each.kind === 'rendered') {
    return applyElement(pass, { plan, element: each.element, intent: each.intent, held });
  }
  const { problem, element } = each;
  return Promise.resolve(blockedElement(pass, { plan, element, problem }));
}
