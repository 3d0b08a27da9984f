import type { ChildPlan, Element } from '../../compile/index.ts';
import { allEnded } from './all-ended.ts';
import { applyElement } from './apply-element.ts';
import { blockedElement } from './element-result.ts';
import { heldBy } from './hold.ts';
import { keepApplied, keepElements } from './keep-applied.ts';
import type { ChildResult, ElementResult, Pass } from './pass.ts';
import type { ResolvedChild, ResolvedElement } from './resolve-child.ts';

/** Makes a child as it was resolved, all its elements at once. */
export async function applyChild(pass: Pass, resolved: ResolvedChild): Promise<ChildResult> {
  const { plan, isWanted, elements } = resolved;
  if (!isWanted) return { plan, resolution: 'unwanted', elements: [] };
  const held = await heldBy(pass, plan);
  const results = await allEnded(elements.map((each) => applyResolved(pass, plan, { each, held })));
  if (elements.every(({ kind }) => kind === 'rendered')) {
    return { plan, resolution: 'wanted', elements: results };
  }
  const waits = results.some(({ problem }) => problem?.reason === 'Waiting');
  const failed = plan.isList && waits ? await keepElements(pass, plan) : [];
  return { plan, resolution: 'unknown', elements: [...results, ...failed] };
}

async function applyResolved(
  pass: Pass,
  plan: ChildPlan,
  { each, held }: { readonly each: ResolvedElement; readonly held: readonly string[] },
): Promise<ElementResult> {
  if (each.kind === 'rendered') {
    return applyElement(pass, { plan, element: each.element, intent: each.intent, held });
  }
  const { problem, element } = each;
  const name = await nameOf(pass, plan, element);
  return keepApplied(pass, blockedElement(pass, { plan, element, name, problem }));
}

/** What an element that cannot be rendered would be called; empty where even that is not known. */
async function nameOf(pass: Pass, plan: ChildPlan, element: Element | undefined): Promise<string> {
  if (element === undefined && plan.isList) return '';
  const theOne = { item: undefined, index: 0 };
  const name = await pass.wanting.name(plan.id, element ?? theOne);
  return name.kind === 'value' ? name.value : '';
}
