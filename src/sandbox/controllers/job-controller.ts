import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import { type ControllerWorld, numberOf, partOf } from './controller-world.ts';
import { controlledBy, isReady, phaseOf, podOf } from './owned-objects.ts';
import { isTerminating } from './owner-index.ts';
import { pods } from './pod-simulator.ts';

export const jobs = 'batch/jobs';

/** Runs pods until enough of them have succeeded, or too many have failed. */
export class JobController {
  readonly #world: ControllerWorld;

  constructor(world: ControllerWorld) {
    this.#world = world;
  }

  reconcile(key: string): void {
    const place = { collection: jobs, key };
    const job = this.#world.find(place);
    if (job === undefined || isTerminating(job) || isFinished(job)) return;
    const spec = partOf(job, 'spec');
    const { succeeded, failed, active } = this.#count(job);
    const template = objectField(spec, 'template') ?? {};
    const completions = numberOf(spec, 'completions', 1);
    const hasFailed = failed > numberOf(spec, 'backoffLimit', 6);
    const wanted = Math.min(numberOf(spec, 'parallelism', 1), completions - succeeded);
    if (!hasFailed && spec.suspend !== true)
      for (let count = active; count < wanted; count++)
        this.#record(
          job,
          'SuccessfulCreate',
          `Created pod: ${this.#world.create(pods, job.namespace, podOf(job, template))}`,
        );
    const end = succeeded >= completions ? 'Complete' : hasFailed ? 'Failed' : undefined;
    this.#world.writeStatus(place, this.#status(job, end));
    if (end === 'Complete') this.#record(job, 'Completed', 'Job completed');
  }

  #record(job: StoredObject, reason: string, message: string): void {
    this.#world.record(job, { component: 'job-controller', reason, message });
  }

  #count(job: StoredObject) {
    const owned = controlledBy(this.#world, pods, job);
    const inPhase = (phase: string) => owned.filter((pod) => phaseOf(pod) === phase).length;
    const active = owned.filter(
      (pod) => !isTerminating(pod) && !['Succeeded', 'Failed'].includes(phaseOf(pod)),
    );
    return {
      succeeded: inPhase('Succeeded'),
      failed: inPhase('Failed'),
      active: active.length,
      ready: active.filter(isReady).length,
    };
  }

  #status(job: StoredObject, end: 'Complete' | 'Failed' | undefined): JsonObject {
    const now = this.#world.now();
    const { succeeded, failed, active, ready } = this.#count(job);
    const startTime = partOf(job, 'status').startTime ?? now;
    return {
      startTime,
      active,
      ready,
      succeeded,
      failed,
      terminating: 0,
      uncountedTerminatedPods: {},
      ...(end === 'Complete' ? { completionTime: now } : {}),
      ...(end === undefined ? {} : { conditions: endConditions(end, now) }),
    };
  }
}

function endConditions(end: 'Complete' | 'Failed', now: string): readonly JsonObject[] {
  const first = end === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
  const reason = end === 'Complete' ? 'CompletionsReached' : 'BackoffLimitExceeded';
  const message =
    end === 'Complete'
      ? 'Reached expected number of succeeded pods'
      : 'Job has reached the specified backoff limit';
  return [first, end].map((type) => ({
    type,
    status: 'True',
    lastProbeTime: now,
    lastTransitionTime: now,
    reason,
    message,
  }));
}

function isFinished(job: StoredObject): boolean {
  return listField(partOf(job, 'status'), 'conditions').some(
    (condition) =>
      isJsonObject(condition) &&
      (condition.type === 'Complete' || condition.type === 'Failed') &&
      condition.status === 'True',
  );
}
