import type { ChildPlan } from '../../compile/index.ts';
import { allEnded } from '../pass/all-ended.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { lookUp } from './apply-element.ts';
import { applyResolved } from './apply-resolved.ts';
import type { ResolvedChild, ResolvedElement } from './resolve-child.ts';
import { isReadyNow, type OutdatedElement, outdatedElement, rollOut } from './roll-out.ts';

/** Do the elements of this child have an order? */
export function isInTurn({ isList, ordered, updateStrategy }: ChildPlan): boolean {
  return isList && (ordered || updateStrategy.rollingUpdate !== undefined);
}

/**
 * Makes the elements of a child in the order that it asks for: new ones one after the other (`ordered`), those of an older intent a few at
 * a time (`rollingUpdate`). What is to be mended is mended at once.
 * @param held What has to be ready before any of them; then nothing has a turn.
 */
export async function applyInTurn(
  pass: Pass,
  { plan, elements }: ResolvedChild,
  held: readonly string[],
): Promise<readonly ElementResult[]> {
  const isRolling = plan.updateStrategy.rollingUpdate !== undefined && held.length === 0;
  const outdated = elements.map((each) =>
    isRolling && each.kind === 'rendered' ? outdatedElement(pass, plan, each) : undefined,
  );
  const results = plan.ordered
    ? await applyOrdered(pass, plan, { elements, outdated, held })
    : await allEnded(
        elements.map(async (each, index) =>
          outdated[index] === undefined ? applyResolved(pass, plan, { each, held }) : undefined,
        ),
      );
  return rollOut(pass, plan, { outdated, results });
}

interface Ordered {
  readonly elements: readonly ResolvedElement[];
  readonly outdated: readonly (OutdatedElement | undefined)[];
  readonly held: readonly string[];
}

/** An element is made when the one before it is ready. */
async function applyOrdered(
  pass: Pass,
  plan: ChildPlan,
  { elements, outdated, held }: Ordered,
): Promise<readonly (ElementResult | undefined)[]> {
  const results: (ElementResult | undefined)[] = [];
  let before: ElementResult | undefined;
  for (const [index, each] of elements.entries()) {
    const old = outdated[index];
    if (old !== undefined) {
      results.push(undefined);
      before = old.result;
      continue;
    }
    const turn = await turnOf(pass, each, before);
    const result = await applyResolved(
      pass,
      plan,
      turn === undefined ? { each, held } : { each, held: [...held, turn], isInTurn: true },
    );
    results.push(result);
    before = result;
  }
  return results;
}

/** What an element that is not there yet waits for; undefined: it is its turn. */
async function turnOf(
  pass: Pass,
  each: ResolvedElement,
  before: ElementResult | undefined,
): Promise<string | undefined> {
  if (before === undefined || each.kind !== 'rendered') return undefined;
  if (lookUp(pass, each.intent) !== undefined || (await isReadyNow(pass, before))) return undefined;
  return before.name === ''
    ? 'the element before it to be ready'
    : `${objectText(before.plan.gvk.kind, before.name, before.plan)} to be ready`;
}
