import { type Problem, problemOfRender, problemOfWaiting } from '../failure.ts';
import { allSettledOrThrow, type ElementResult, type Pass } from '../pass/pass.ts';
import { outdatedElement } from './outdated-element.ts';
import type { ResolvedChild, ResolvedElement } from './resolve-child.ts';
import type { Sequence } from './sequence.ts';

/**
 * Changes existing objects only while the `gate` of their element is true. Until then they are kept, but for drift; missing ones are created.
 * @param base Applies the others.
 */
export function applyGated(base: Sequence): Sequence {
  return async (pass, child, applier) => {
    const { elements } = child;
    const closed = await closedElements(pass, child);
    // For the others, only the readiness of its object counts.
    const results = await base(pass, child, {
      ...applier,
      isHeld: (each) => closed.has(each) || applier.isHeld(each),
      apply: async (each, waitingFor) =>
        closed.get(each)?.outdated ?? applier.apply(each, waitingFor),
    });
    const kept = results.map(async (result, index) => {
      const each = elements[index];
      const problem = each && closed.get(each)?.problem;
      return problem === undefined ? result : applier.keep({ ...result, problem });
    });
    return allSettledOrThrow(kept);
  };
}

interface ClosedElement {
  /** Without changes. */
  readonly outdated: ElementResult;
  readonly problem: Problem;
}

/** The elements whose objects have an earlier intent and may not be changed now. A gate is evaluated only for such an element. */
async function closedElements(
  pass: Pass,
  { plan, elements }: ResolvedChild,
): Promise<ReadonlyMap<ResolvedElement, ClosedElement>> {
  const closed = new Map<ResolvedElement, ClosedElement>();
  for (const each of elements) {
    const outdated = each.kind === 'rendered' ? outdatedElement(pass, plan, each) : undefined;
    if (outdated?.element === undefined) continue;
    const problem = problemOf(await pass.desiredPhase.gate(plan.id, outdated.element));
    if (problem !== undefined) closed.set(each, { outdated, problem });
  }
  return closed;
}

/** Why the object is not changed; undefined: the gate is open. The desired state is known, so other objects can be deleted. */
function problemOf(gate: Awaited<ReturnType<Pass['desiredPhase']['gate']>>): Problem | undefined {
  if (gate.kind === 'failed') return problemOfRender(gate.failure);
  if (gate.kind === 'waiting') return problemOfWaiting(gate.on);
  if (gate.kind === 'value' && gate.value) return undefined;
  const on = '"gate" to be true';
  return { ...problemOfWaiting([on], `Not changed: waiting for ${on}`), isPartial: true };
}
