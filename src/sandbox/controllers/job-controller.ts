import type { JsonObject } from '#util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import { stringsOf } from '../metadata/validate-metadata.ts';
import type { StoredObject } from '../store/stored-object.ts';
import {
  type ControllerClient,
  type ControllerEvent,
  numberOf,
  type ObjectKey,
  partOf,
} from './controller-client.ts';
import { conditionOf, conditionsOf, type RequeueAfter } from './deployment-status.ts';
import {
  completionsOf,
  indexesText,
  indexOf,
  isIndexed,
  jobPod,
  parallelismOf,
  parseIndexes,
  trackingFinalizer,
} from './job-pods.ts';
import { controlledObjects, controllerUid, isFinished, isReady, phaseOf } from './owned-objects.ts';
import { isTerminating, uidOf } from './owner-index.ts';
import { PodCreator } from './pod-creator.ts';
import { pods } from './pod-simulator.ts';

export const jobs = 'batch/jobs';

/** The condition that ends a Job. */
const component = 'job-controller';

interface EndCondition {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

const complete: EndCondition = {
  type: 'Complete',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
};
const tooManyFailed: EndCondition = {
  type: 'Failed',
  reason: 'BackoffLimitExceeded',
  message: 'Job has reached the specified backoff limit',
};
const deadlineExceeded: EndCondition = {
  type: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Job was active longer than specified deadline',
};

/** The counts of a Job's pods. Counted pods no longer have the tracking finalizer. */
interface PodCounts {
  readonly succeeded: number;
  readonly failed: number;
  /** Only for Indexed Jobs. */
  readonly indexes: readonly number[];
  readonly counted: readonly StoredObject[];
  readonly active: readonly StoredObject[];
}

/** Runs pods until enough of them have succeeded, or too many have failed. */
export class JobController {
  readonly #client: ControllerClient;
  readonly #requeueAfter: RequeueAfter;
  readonly #pods: PodCreator;

  constructor(client: ControllerClient, requeueAfter: RequeueAfter) {
    this.#client = client;
    this.#pods = new PodCreator({ client, component, requeueAfter });
    this.#requeueAfter = requeueAfter;
  }

  reconcile(key: string): void {
    const place = { collection: jobs, key };
    const job = this.#client.find(place);
    if (job === undefined || isTerminating(job)) this.#releaseOrphanedPods(key, job);
    else if (finishTime(job) === undefined) this.#reconcileJob(place, job);
    else this.#deleteExpired(place, job);
  }

  /** Deletes a finished Job after its `ttlSecondsAfterFinished`. */
  #deleteExpired(place: ObjectKey, job: StoredObject): void {
    const seconds = numberOf(partOf(job, 'spec'), 'ttlSecondsAfterFinished', Infinity);
    const finished = Date.parse(finishTime(job) ?? '');
    if (seconds === Infinity || Number.isNaN(finished)) return;
    const leftMs = finished + seconds * 1_000 - this.#client.clock.nowMs();
    if (leftMs > 0) this.#requeueAfter(job.key, leftMs);
    else this.#client.delete(place, { propagation: 'Foreground' });
  }

  #reconcileJob(place: ObjectKey, job: StoredObject): void {
    const count = this.#countPods(job);
    if (partOf(job, 'spec').suspend === true) this.#suspend(place, job, count);
    else this.#run(place, job, count);
    for (const pod of count.counted) this.#removeFinalizer(pod);
  }

  #run(place: ObjectKey, job: StoredObject, count: PodCounts): void {
    this.#resume(place, job);
    const started = this.#client.find(place) ?? job;
    const end = this.#endCondition(started, count);
    if (end === undefined) {
      const createdCount = this.#createPods(job, count);
      this.#writeStatus(place, count, { active: count.active.length + createdCount });
      return;
    }
    this.#deletePods(job, count.active);
    const failed = count.failed + (end.type === 'Failed' ? count.active.length : 0);
    this.#writeStatus(place, { ...count, failed }, { active: 0, end });
    if (end.type === 'Complete')
      this.#record(job, { reason: 'Completed', message: 'Job completed' });
    else this.#record(job, { type: 'Warning', reason: end.reason, message: end.message });
  }

  /** Adds the pods that finished since the last reconcile to the counts in the status. */
  #countPods(job: StoredObject): PodCounts {
    const status = partOf(job, 'status');
    const owned = controlledObjects(this.#client, pods, job);
    const counted = owned.filter(
      (pod) => hasTrackingFinalizer(pod) && (isFinished(pod) || isTerminating(pod)),
    );
    const succeeded = counted.filter((pod) => phaseOf(pod) === 'Succeeded');
    const completedIndexes = parseIndexes(stringField(status, 'completedIndexes') ?? '');
    const indexes = isIndexed(job)
      ? [...new Set([...completedIndexes, ...succeeded.map(indexOf)])]
      : [];
    return {
      succeeded: isIndexed(job)
        ? indexes.length
        : numberOf(status, 'succeeded', 0) + succeeded.length,
      failed: numberOf(status, 'failed', 0) + counted.length - succeeded.length,
      indexes,
      counted,
      active: owned.filter((pod) => !isFinished(pod) && !isTerminating(pod)),
    };
  }

  #endCondition(
    job: StoredObject,
    { succeeded, failed, active }: PodCounts,
  ): EndCondition | undefined {
    const spec = partOf(job, 'spec');
    if (failed > numberOf(spec, 'backoffLimit', 6)) return tooManyFailed;
    const completions = completionsOf(job);
    const isDone =
      completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= completions;
    if (isDone) return complete;
    return this.#isPastDeadline(job) ? deadlineExceeded : undefined;
  }

  #isPastDeadline(job: StoredObject): boolean {
    const seconds = numberOf(partOf(job, 'spec'), 'activeDeadlineSeconds', Infinity);
    const start = Date.parse(stringField(partOf(job, 'status'), 'startTime') ?? '');
    if (seconds === Infinity || Number.isNaN(start)) return false;
    const leftMs = start + seconds * 1_000 - this.#client.clock.nowMs();
    if (leftMs > 0) this.#requeueAfter(job.key, leftMs);
    return leftMs <= 0;
  }

  /** Creates pods up to the parallelism and returns how many were created. */
  #createPods(job: StoredObject, { succeeded, indexes, active }: PodCounts): number {
    const completions = completionsOf(job);
    const parallelism = parallelismOf(job);
    const remaining = completions === undefined ? parallelism : completions - succeeded;
    // Without completions, the first success ends the Job: no new pods are created.
    const hasSuccess = completions === undefined && succeeded > 0;
    const desired = hasSuccess ? 0 : Math.min(parallelism, remaining);
    const usedIndexes = new Set([...indexes, ...active.map(indexOf)]);
    const free = Array.from({ length: completions ?? 0 }, (_, index) => index).filter(
      (index) => !usedIndexes.has(index),
    );
    const missing = Math.max(desired - active.length, 0);
    for (let at = 0; at < missing; at++) {
      const manifest = jobPod(job, isIndexed(job) ? free[at] : undefined);
      const name = this.#pods.create(job, manifest);
      if (name === undefined) return at;
      this.#record(job, { reason: 'SuccessfulCreate', message: `Created pod: ${name}` });
    }
    return missing;
  }

  #suspend(place: ObjectKey, job: StoredObject, count: PodCounts): void {
    this.#deletePods(job, count.active);
    const isNew = this.#writeSuspendedCondition(place, true);
    this.#writeStatus(place, count, { active: 0 });
    if (isNew) this.#record(job, { reason: 'Suspended', message: 'Job suspended' });
  }

  /** Sets the start time; records an Event if the Job was suspended. */
  #resume(place: ObjectKey, job: StoredObject): void {
    const suspended = conditionOf(conditionsOf(partOf(job, 'status')), 'Suspended');
    if (suspended !== undefined && this.#writeSuspendedCondition(place, false))
      this.#record(job, { reason: 'Resumed', message: 'Job resumed' });
    this.#client.updateStatus(place, (object) => {
      const status = objectField(object, 'status') ?? {};
      return {
        ...object,
        status: { ...status, startTime: status.startTime ?? this.#client.now() },
      };
    });
  }

  /** Writes the Suspended condition; returns whether it changed. */
  #writeSuspendedCondition(place: ObjectKey, isSuspended: boolean): boolean {
    const job = this.#client.find(place);
    const conditions = job === undefined ? [] : conditionsOf(partOf(job, 'status'));
    const status = isSuspended ? 'True' : 'False';
    if (conditionOf(conditions, 'Suspended')?.status === status) return false;
    const others = conditions.filter(({ type }) => type !== 'Suspended');
    const condition = {
      type: 'Suspended',
      status,
      ...this.#conditionTimes(),
      reason: isSuspended ? 'JobSuspended' : 'JobResumed',
      message: isSuspended ? 'Job suspended' : 'Job resumed',
    };
    this.#client.updateStatus(place, (object) => {
      const { startTime: _, ...rest } = objectField(object, 'status') ?? {};
      return { ...object, status: { ...rest, conditions: [...others, condition] } };
    });
    return true;
  }

  #deletePods(job: StoredObject, active: readonly StoredObject[]): void {
    for (const pod of active) {
      this.#removeFinalizer(pod);
      this.#client.delete({ collection: pods, key: pod.key });
      this.#record(job, { reason: 'SuccessfulDelete', message: `Deleted pod: ${pod.name}` });
    }
  }

  #removeFinalizer({ key }: StoredObject): void {
    this.#client.update({ collection: pods, key }, (object) => {
      const metadata = objectField(object, 'metadata') ?? {};
      const finalizers = stringsOf(metadata, 'finalizers').filter(
        (name) => name !== trackingFinalizer,
      );
      return { ...object, metadata: { ...metadata, finalizers } };
    });
  }

  /** Removes the tracking finalizer from pods whose Job is deleted or being deleted. */
  #releaseOrphanedPods(key: string, job: StoredObject | undefined): void {
    const liveJobs = new Set(
      this.#client
        .list(jobs)
        .filter((other) => other !== job)
        .map(uidOf),
    );
    const namespace = key.slice(0, key.indexOf('/'));
    for (const pod of this.#client.list(pods)) {
      const controller = controllerUid(pod) ?? '';
      if (pod.namespace === namespace && hasTrackingFinalizer(pod) && !liveJobs.has(controller))
        this.#removeFinalizer(pod);
    }
  }

  #record(job: StoredObject, event: Omit<ControllerEvent, 'component'>): void {
    this.#client.recordEvent(job, { component, ...event });
  }

  #writeStatus(
    place: ObjectKey,
    { succeeded, failed, indexes }: PodCounts,
    { active, end }: { readonly active: number; readonly end?: EndCondition },
  ): void {
    const job = this.#client.find(place);
    if (job === undefined) return;
    const owned = controlledObjects(this.#client, pods, job);
    const old = partOf(job, 'status');
    const now = this.#client.now();
    this.#client.writeStatus(place, {
      ...(old.startTime === undefined ? {} : { startTime: old.startTime }),
      active,
      ready: active === 0 ? 0 : owned.filter((pod) => !isTerminating(pod) && isReady(pod)).length,
      succeeded,
      failed,
      terminating: owned.filter((pod) => isTerminating(pod) && !isFinished(pod)).length,
      uncountedTerminatedPods: {},
      ...(indexes.length === 0 ? {} : { completedIndexes: indexesText(indexes) }),
      ...(end?.type === 'Complete' ? { completionTime: now } : {}),
      conditions: [...conditionsOf(old), ...(end === undefined ? [] : this.#endConditions(end))],
    });
  }

  #endConditions({ type, reason, message }: EndCondition): readonly JsonObject[] {
    const first = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
    return [first, type].map((name) => ({
      type: name,
      status: 'True',
      ...this.#conditionTimes(),
      reason,
      message,
    }));
  }

  #conditionTimes(): JsonObject {
    const now = this.#client.now();
    return { lastProbeTime: now, lastTransitionTime: now };
  }
}

function hasTrackingFinalizer(pod: StoredObject): boolean {
  return stringsOf(partOf(pod, 'metadata'), 'finalizers').includes(trackingFinalizer);
}

/** The time of the condition that ended a Job; empty where it has none. Undefined: the Job has not finished. */
function finishTime(job: StoredObject): string | undefined {
  const end = conditionsOf(partOf(job, 'status')).find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  return end && (stringField(end, 'lastTransitionTime') ?? '');
}
