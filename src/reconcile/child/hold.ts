import type { ChildPlan } from '../../compile/index.ts';
import type { Pass } from '../pass/pass.ts';
import { readinessOfElement } from './readiness.ts';

/** What of `after` is not ready yet, for people: it holds the creation and every change of intent of a child. */
export async function heldBy(pass: Pass, plan: ChildPlan): Promise<readonly string[]> {
  const held: string[] = [];
  for (const id of plan.after) {
    if (!(await isReady(pass, id))) held.push(`children.${id} to be ready`);
  }
  return held;
}

async function isReady(pass: Pass, id: string): Promise<boolean> {
  const child = pass.did.children.get(id);
  if (child === undefined) return false;
  for (const element of child.elements) {
    const { state } = await readinessOfElement(pass.wanting, element);
    if (state !== 'Ready') return false;
  }
  return true;
}
