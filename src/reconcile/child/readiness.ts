import type { ChildPlan, Phase } from '../../compile/index.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { readinessOf } from '../../util/readiness/readiness-of.ts';
import type { ChildDecision } from '../decision.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';

/** Where a child stands, for `status.children`. */
export interface Standing {
  readonly state: ChildDecision['state'];
  /** Empty when there is nothing to say. */
  readonly message: string;
}

/** Where one element stands. Ready counts for its newest intent only: what is held, waits or fails is not ready. */
export async function readinessOfElement(phase: Phase, result: ElementResult): Promise<Standing> {
  const { problem } = result;
  if (problem !== undefined && !isLeftToOthers(problem)) {
    return { state: stateOf(problem), message: problem.message };
  }
  const standing = await standingOf(phase, result);
  const message = problem?.message ?? (standing.state === 'Ready' ? result.note : undefined);
  return message === undefined ? standing : { ...standing, message };
}

/** The object is all that it is meant to be, fields aside that the author leaves to others. */
function isLeftToOthers({ reason, isPartial }: Problem): boolean {
  return reason === 'Conflict' && isPartial === true;
}

async function standingOf(phase: Phase, result: ElementResult): Promise<Standing> {
  const { live, plan } = result;
  if (live === undefined) return { state: 'Progressing', message: 'Not there yet' };
  return plan.hasReady ? customReadiness(phase, result, live.object) : readinessOf(live.object);
}

function stateOf({ reason }: Problem): Standing['state'] {
  // A missing kind is no failure: it may be installed at any time.
  return reason === 'Waiting' || reason === 'KindMissing' ? 'Waiting' : 'Failed';
}

async function customReadiness(
  phase: Phase,
  { plan, element }: ElementResult,
  live: KubeObject,
): Promise<Standing> {
  if (!isObserved(live)) return { state: 'Progressing', message: 'Not observed yet' };
  const ready = await phase.ready(plan.id, live, element ?? { item: undefined, index: 0 });
  switch (ready.kind) {
    case 'value':
      return ready.value
        ? { state: 'Ready', message: '' }
        : { state: 'Progressing', message: '"ready" is not true yet' };
    case 'missing':
      return { state: 'Progressing', message: '"ready" is not true yet' };
    case 'waiting':
      return { state: 'Progressing', message: `"ready" waits for ${ready.on.join(', ')}` };
    case 'failed':
      return { state: 'Failed', message: problemOfRender(ready.failure).message };
  }
}

/** Has the kind's controller seen the newest generation, as far as it says so? */
function isObserved({ metadata, status }: KubeObject): boolean {
  const observed = isJsonObject(status) ? status.observedGeneration : undefined;
  return observed === undefined || observed === metadata.generation;
}

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
