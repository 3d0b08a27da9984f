import { WorkBudget } from '../../compile/index.ts';
import type { Turn } from '../../controller/index.ts';
import type { OperatorContext } from './context.ts';

/** A pass's turn with a worker, and what it may compute and hold until it ends. */
export interface PassTurn extends Turn {
  readonly budget: WorkBudget;
}

/** What one reconcile of the definition may use. Whoever creates it ends it. */
export function createBudget({ plan, turns, memory }: OperatorContext): WorkBudget {
  const { limits } = plan.definition.controller;
  return new WorkBudget({ limits, owner: plan.name, turns, ...(memory && { memory }) });
}
