import type { ChildResult, ElementResult, Pass } from '../pass/pass.ts';
import { applyResolved } from './apply-element.ts';
import { dependenciesOf } from './dependencies.ts';
import { repairElements, repairKept } from './repair-waiting.ts';
import type { ResolvedChild } from './resolve-child.ts';
import { type ElementApplier, sequenceOf } from './sequence.ts';

/** Applies a resolved child: its elements in the sequence of its plan. */
export async function applyChild(pass: Pass, resolved: ResolvedChild): Promise<ChildResult> {
  const { plan, isDesired, elements } = resolved;
  if (!isDesired) return { plan, resolution: 'omitted', elements: [] };
  const results = await sequenceOf(plan)(pass, resolved, await applierOf(pass, resolved));
  if (elements.every(({ kind }) => kind === 'rendered')) {
    return { plan, resolution: 'desired', elements: results };
  }
  const waits = results.some(({ problem }) => problem?.reason === 'Waiting');
  const failed = plan.isList && waits ? await repairElements(pass, plan) : [];
  return { plan, resolution: 'unknown', elements: [...results, ...failed] };
}

async function applierOf(pass: Pass, child: ResolvedChild): Promise<ElementApplier> {
  const { plan } = child;
  const dependencies = await dependenciesOf(pass, child);
  return {
    isHeld: (each) => dependencies(each).length > 0,
    apply(each, waitingFor) {
      const others = dependencies(each);
      const all = waitingFor === undefined ? others : [...others, waitingFor];
      // One that waits for other children too is a wait of its child, which deletes nothing meanwhile.
      const waitsForElements = waitingFor !== undefined && others.length === 0;
      return applyResolved(pass, plan, { each, waitingFor: all, waitsForElements });
    },
    keep: (result: ElementResult) => repairKept(pass, result),
  };
}
