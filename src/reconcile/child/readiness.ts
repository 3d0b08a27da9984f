import type { ChildPlan, Phase } from '../../compile/index.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { readinessOf } from '../../util/readiness/readiness-of.ts';
import type { ChildDecision } from '../decision.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { isWaitingReason } from './element-result.ts';

/** The readiness of a child, for `status.children`. */
interface ChildReadiness {
  readonly state: ChildDecision['state'];
  /** May be empty. */
  readonly message: string;
}

/** The readiness of one element with its newest intent: an element that is held, waits or fails is not ready. */
export async function readinessOfElement(
  phase: Phase,
  result: ElementResult,
): Promise<ChildReadiness> {
  const { problem } = result;
  if (problem !== undefined && !isIgnoredConflict(problem)) {
    return { state: stateOf(problem), message: problem.message };
  }
  const readiness = await readinessOfObject(phase, result);
  const message = problem?.message ?? (readiness.state === 'Ready' ? result.notice : undefined);
  return message === undefined ? readiness : { ...readiness, message };
}

/** The object is as desired, apart from fields that the author leaves to other managers. */
export function isIgnoredConflict({ reason, isPartial }: Problem): boolean {
  return reason === 'Conflict' && isPartial === true;
}

async function readinessOfObject(phase: Phase, result: ElementResult): Promise<ChildReadiness> {
  const { live, plan } = result;
  if (live === undefined) return { state: 'Progressing', message: 'Not created yet' };
  return plan.hasReady ? customReadiness(phase, result, live.object) : readinessOf(live.object);
}

function stateOf(problem: Problem): ChildReadiness['state'] {
  // A missing kind is not a failure: it may be installed at any time.
  return isWaitingReason(problem) ? 'Waiting' : 'Failed';
}

async function customReadiness(
  phase: Phase,
  { plan, element }: ElementResult,
  live: KubeObject,
): Promise<ChildReadiness> {
  if (!isObserved(live))
    return {
      state: 'Progressing',
      message: 'Its controller has not observed the latest generation yet',
    };
  const ready = await phase.ready(plan.id, live, element ?? { item: undefined, index: 0 });
  switch (ready.kind) {
    case 'value':
      return ready.value
        ? { state: 'Ready', message: '' }
        : { state: 'Progressing', message: '"ready" is not true' };
    case 'missing':
      return { state: 'Progressing', message: '"ready" is not true' };
    case 'waiting':
      return { state: 'Progressing', message: `"ready" waits for ${ready.on.join(', ')}` };
    case 'failed':
      return { state: 'Failed', message: problemOfRender(ready.failure).message };
  }
}

/** Has the kind's controller observed the newest generation, as far as its status shows? */
function isObserved({ metadata, status }: KubeObject): boolean {
  const observed = isJsonObject(status) ? status.observedGeneration : undefined;
  return observed === undefined || observed === metadata.generation;
}

/**
 * The children of `after` that are not ready, for people: creation and intent changes of the child wait for them.
 * @param cluster The member cluster of the waiting element: of a child in members, its elements there count.
 */
export async function unreadyDependencies(
  pass: Pass,
  plan: ChildPlan,
  cluster?: string,
): Promise<readonly string[]> {
  const held: string[] = [];
  for (const id of plan.after) {
    if (!(await isReady(pass, id, cluster))) held.push(`children.${id} to be ready`);
  }
  return held;
}

async function isReady(pass: Pass, id: string, cluster: string | undefined): Promise<boolean> {
  const child = pass.effects.children.get(id);
  if (child === undefined) return false;
  for (const element of child.elements) {
    const isElsewhere = element.cluster !== undefined && element.cluster !== cluster;
    if (isElsewhere && cluster !== undefined) continue;
    const { state } = await readinessOfElement(pass.desiredPhase, element);
    if (state !== 'Ready') return false;
  }
  return true;
}
