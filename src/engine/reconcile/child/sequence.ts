import type { ChildPlan } from '#compile';
import { allSettledOrThrow, type ElementResult, type Pass } from '../pass/pass.ts';
import { applyGated } from './apply-gated.ts';
import { applyOrdered } from './apply-ordered.ts';
import { applyRolling } from './apply-rolling.ts';
import { applySurging } from './apply-surging.ts';
import type { ResolvedChild, ResolvedElement } from './resolve-child.ts';
import { surgeOf } from './surge.ts';

/** Applies the elements of one child. */
export interface ElementApplier {
  /** Does the element wait for other children or for its gate? Then its object keeps its earlier intent. */
  isHeld(each: ResolvedElement): boolean;
  /** @param waitingFor What a missing element waits for beside other children, for people: `Pod "db-0" to be ready`. */
  apply(each: ResolvedElement, waitingFor?: string): Promise<ElementResult>;
  /** Leaves the object of an element as it is but for drift, and reports this. */
  keep(result: ElementResult): Promise<ElementResult>;
}

/** The order in which the elements of a child are applied. Returns their results in the order of the elements. */
export type Sequence = (
  pass: Pass,
  child: ResolvedChild,
  applier: ElementApplier,
) => Promise<readonly ElementResult[]>;

const allAtOnce: Sequence = (_, { elements }, applier) =>
  allSettledOrThrow(elements.map((each) => applier.apply(each)));

/**
 * The sequence of a child: new elements one after the other (`ordered`) or beside earlier objects (`maxSurge`), outdated ones a few at a
 * time (`rollingUpdate`), while they may be changed (`gate`).
 */
export function sequenceOf(plan: ChildPlan): Sequence {
  const { isList, ordered, updateStrategy, hasGate } = plan;
  const inOrder = isList && ordered ? applyOrdered : allAtOnce;
  const surge = surgeOf(plan);
  const base = surge === undefined ? inOrder : applySurging(inOrder, surge);
  const { rollingUpdate } = updateStrategy;
  const paced = isList && rollingUpdate !== undefined ? applyRolling(base, rollingUpdate) : base;
  return hasGate === true ? applyGated(paced) : paced;
}
