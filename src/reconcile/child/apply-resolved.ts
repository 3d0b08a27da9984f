import type { ChildPlan, Element } from '../../compile/index.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { applyElement } from './apply-element.ts';
import { blockedElement } from './element-result.ts';
import { keepApplied } from './keep-applied.ts';
import type { ResolvedElement } from './resolve-child.ts';

/** One element of a child, and what it waits for. */
export interface ResolvedTurn {
  readonly each: ResolvedElement;
  /** What has to be ready first, for people: `children.database to be ready`. */
  readonly held: readonly string[];
  /** It waits for other elements of its own child only, of which all is known. @default false */
  readonly isInTurn?: boolean;
}

/** Makes an element as it was resolved; what could not be rendered stays as it is. */
export async function applyResolved(
  pass: Pass,
  plan: ChildPlan,
  { each, held, isInTurn = false }: ResolvedTurn,
): Promise<ElementResult> {
  if (each.kind === 'rendered') {
    const { element, intent } = each;
    return applyElement(pass, { plan, element, intent, held, isInTurn });
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
