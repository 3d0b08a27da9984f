import type { ChildPlan, Phase } from '#compile';
import { foreignText } from '#util/foreign-text.ts';
import { isJsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { readinessOf } from '#util/readiness/readiness-of.ts';
import type { ChildDecision } from '../decision.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { isWaitingReason } from './element-result.ts';

const runtimeGroup = 'homeostat.dev/';
/** Of a message of a condition. */
const maxMessageLength = 300;

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

/** Does the element exist, as desired and ready? */
export async function isReadyNow(pass: Pass, result: ElementResult): Promise<boolean> {
  const { state } = await readinessOfElement(pass.desiredPhase, result);
  return state === 'Ready';
}

/** The object is as desired, apart from fields that the author leaves to other managers. */
export function isIgnoredConflict({ reason, isPartial }: Problem): boolean {
  return reason === 'Conflict' && isPartial === true;
}

async function readinessOfObject(phase: Phase, result: ElementResult): Promise<ChildReadiness> {
  const { live, plan } = result;
  if (live === undefined) return { state: 'Progressing', message: 'Not created yet' };
  if (plan.hasReady) return customReadiness(phase, result, live.object);
  const readiness = readinessOf(live.object);
  const cause = readiness.state === 'Ready' ? undefined : runtimeMessage(plan, live.object);
  return cause === undefined
    ? readiness
    : { ...readiness, message: `${readiness.message}: ${cause}` };
}

/**
 * Why an object of a kind of the runtime is not ready: its messages are stable and quote no Secrets, unlike those of other kinds. Undefined:
 * it has none, or the definition writes values of Secrets into the object, which its messages may quote.
 */
function runtimeMessage(plan: ChildPlan, object: KubeObject): string | undefined {
  if (!object.apiVersion.startsWith(runtimeGroup) || plan.secrecy !== 'none') return undefined;
  const condition = conditionsOf(object).find(({ type }) => type === 'Ready');
  const { status, message } = condition ?? {};
  if (status !== 'False' || typeof message !== 'string' || message === '') return undefined;
  return foreignText(message, maxMessageLength);
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
