import type { JsonObject } from '../../util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import { textsOf } from '../metadata/index.ts';
import type { StoredObject } from '../store/index.ts';
import { conditionOf, conditionsOf } from './conditions.ts';
import {
  type ControllerEvent,
  type ControllerWorld,
  numberOf,
  type ObjectPlace,
  partOf,
} from './controller-world.ts';
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
import type { LookAgain } from './look-again.ts';
import { controlledBy, controllerUid, isFinished, isReady, phaseOf } from './owned-objects.ts';
import { isTerminating, uidOf } from './owner-index.ts';
import { pods } from './pod-simulator.ts';

export const jobs = 'batch/jobs';

/** How a Job ends, and why. */
interface End {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

const complete: End = {
  type: 'Complete',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
};
const tooManyFailed: End = {
  type: 'Failed',
  reason: 'BackoffLimitExceeded',
  message: 'Job has reached the specified backoff limit',
};
const tooLate: End = {
  type: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Job was active longer than specified deadline',
};

/** What a Job has counted; pods that are counted are not held any more. */
interface Count {
  readonly succeeded: number;
  readonly failed: number;
  /** Of an Indexed Job. */
  readonly indexes: readonly number[];
  readonly counted: readonly StoredObject[];
  readonly active: readonly StoredObject[];
}

/** Runs pods until enough of them have succeeded, or too many have failed. */
export class JobController {
  readonly #world: ControllerWorld;
  readonly #lookAgain: LookAgain;

  constructor(world: ControllerWorld, lookAgain: LookAgain) {
    this.#world = world;
    this.#lookAgain = lookAgain;
  }

  reconcile(key: string): void {
    const place = { collection: jobs, key };
    const job = this.#world.find(place);
    if (job === undefined || isTerminating(job)) this.#releaseOrphans(key, job);
    else if (!hasEnded(job)) this.#bringOn(place, job);
  }

  #bringOn(place: ObjectPlace, job: StoredObject): void {
    const count = this.#count(job);
    if (partOf(job, 'spec').suspend === true) this.#suspend(place, job, count);
    else this.#run(place, job, count);
    for (const pod of count.counted) this.#release(pod);
  }

  #run(place: ObjectPlace, job: StoredObject, count: Count): void {
    this.#resume(place, job);
    const started = this.#world.find(place) ?? job;
    const end = this.#endOf(started, count);
    if (end === undefined) {
      const made = this.#create(job, count);
      this.#writeStatus(place, count, { active: count.active.length + made });
      return;
    }
    this.#stop(job, count.active);
    const failed = count.failed + (end.type === 'Failed' ? count.active.length : 0);
    this.#writeStatus(place, { ...count, failed }, { active: 0, end });
    if (end.type === 'Complete')
      this.#record(job, { reason: 'Completed', message: 'Job completed' });
    else this.#record(job, { type: 'Warning', reason: end.reason, message: end.message });
  }

  /** What has ended since the last look, beside what the status tells already. */
  #count(job: StoredObject): Count {
    const status = partOf(job, 'status');
    const owned = controlledBy(this.#world, pods, job);
    const counted = owned.filter((pod) => isHeld(pod) && (isFinished(pod) || isTerminating(pod)));
    const succeeded = counted.filter((pod) => phaseOf(pod) === 'Succeeded');
    const known = parseIndexes(stringField(status, 'completedIndexes') ?? '');
    const indexes = isIndexed(job) ? [...new Set([...known, ...succeeded.map(indexOf)])] : [];
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

  #endOf(job: StoredObject, { succeeded, failed, active }: Count): End | undefined {
    const spec = partOf(job, 'spec');
    if (failed > numberOf(spec, 'backoffLimit', 6)) return tooManyFailed;
    const completions = completionsOf(job);
    const isDone =
      completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= completions;
    if (isDone) return complete;
    return this.#isLate(job) ? tooLate : undefined;
  }

  #isLate(job: StoredObject): boolean {
    const seconds = numberOf(partOf(job, 'spec'), 'activeDeadlineSeconds', Infinity);
    const start = Date.parse(stringField(partOf(job, 'status'), 'startTime') ?? '');
    if (seconds === Infinity || Number.isNaN(start)) return false;
    const leftMs = start + seconds * 1_000 - this.#world.clock.nowMs();
    if (leftMs > 0) this.#lookAgain(job.key, leftMs);
    return leftMs <= 0;
  }

  /** Makes as many pods as may work at once, and returns how many. */
  #create(job: StoredObject, { succeeded, indexes, active }: Count): number {
    const completions = completionsOf(job);
    const parallelism = parallelismOf(job);
    const left = completions === undefined ? parallelism : completions - succeeded;
    // The first that has succeeded without a number to reach tells that the work is done.
    const isClosing = completions === undefined && succeeded > 0;
    const wanted = isClosing ? 0 : Math.min(parallelism, left);
    const busy = new Set([...indexes, ...active.map(indexOf)]);
    const free = Array.from({ length: completions ?? 0 }, (_, index) => index).filter(
      (index) => !busy.has(index),
    );
    const missing = Math.max(wanted - active.length, 0);
    for (let at = 0; at < missing; at++) {
      const manifest = jobPod(job, isIndexed(job) ? free[at] : undefined);
      const name = this.#world.create(pods, job.namespace, manifest);
      this.#record(job, { reason: 'SuccessfulCreate', message: `Created pod: ${name}` });
    }
    return missing;
  }

  #suspend(place: ObjectPlace, job: StoredObject, count: Count): void {
    this.#stop(job, count.active);
    const isNew = this.#say(place, true);
    this.#writeStatus(place, count, { active: 0 });
    if (isNew) this.#record(job, { reason: 'Suspended', message: 'Job suspended' });
  }

  /** From when on it runs; told when it was suspended before. */
  #resume(place: ObjectPlace, job: StoredObject): void {
    const suspended = conditionOf(conditionsOf(partOf(job, 'status')), 'Suspended');
    if (suspended !== undefined && this.#say(place, false))
      this.#record(job, { reason: 'Resumed', message: 'Job resumed' });
    this.#world.changeStatus(place, (object) => {
      const status = objectField(object, 'status') ?? {};
      return { ...object, status: { ...status, startTime: status.startTime ?? this.#world.now() } };
    });
  }

  /** Says whether it is suspended; is that news? */
  #say(place: ObjectPlace, isSuspended: boolean): boolean {
    const job = this.#world.find(place);
    const conditions = job === undefined ? [] : conditionsOf(partOf(job, 'status'));
    const status = isSuspended ? 'True' : 'False';
    if (conditionOf(conditions, 'Suspended')?.status === status) return false;
    const others = conditions.filter(({ type }) => type !== 'Suspended');
    const said = {
      type: 'Suspended',
      status,
      ...this.#now(),
      reason: isSuspended ? 'JobSuspended' : 'JobResumed',
      message: isSuspended ? 'Job suspended' : 'Job resumed',
    };
    this.#world.changeStatus(place, (object) => {
      const { startTime: _, ...rest } = objectField(object, 'status') ?? {};
      return { ...object, status: { ...rest, conditions: [...others, said] } };
    });
    return true;
  }

  #stop(job: StoredObject, active: readonly StoredObject[]): void {
    for (const pod of active) {
      this.#release(pod);
      this.#world.delete({ collection: pods, key: pod.key });
      this.#record(job, { reason: 'SuccessfulDelete', message: `Deleted pod: ${pod.name}` });
    }
  }

  #release({ key }: StoredObject): void {
    this.#world.change({ collection: pods, key }, (object) => {
      const metadata = objectField(object, 'metadata') ?? {};
      const finalizers = textsOf(metadata, 'finalizers').filter(
        (name) => name !== trackingFinalizer,
      );
      return { ...object, metadata: { ...metadata, finalizers } };
    });
  }

  /** Nobody counts the pods of a Job that is gone, or about to go. */
  #releaseOrphans(key: string, job: StoredObject | undefined): void {
    const known = new Set(
      this.#world
        .list(jobs)
        .filter((other) => other !== job)
        .map(uidOf),
    );
    const namespace = key.slice(0, key.indexOf('/'));
    for (const pod of this.#world.list(pods)) {
      const controller = controllerUid(pod) ?? '';
      if (pod.namespace === namespace && isHeld(pod) && !known.has(controller)) this.#release(pod);
    }
  }

  #record(job: StoredObject, event: Omit<ControllerEvent, 'component'>): void {
    this.#world.record(job, { component: 'job-controller', ...event });
  }

  #writeStatus(
    place: ObjectPlace,
    { succeeded, failed, indexes }: Count,
    { active, end }: { readonly active: number; readonly end?: End },
  ): void {
    const job = this.#world.find(place);
    if (job === undefined) return;
    const owned = controlledBy(this.#world, pods, job);
    const old = partOf(job, 'status');
    const now = this.#world.now();
    this.#world.writeStatus(place, {
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

  #endConditions({ type, reason, message }: End): readonly JsonObject[] {
    const first = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
    return [first, type].map((name) => ({
      type: name,
      status: 'True',
      ...this.#now(),
      reason,
      message,
    }));
  }

  #now(): JsonObject {
    const now = this.#world.now();
    return { lastProbeTime: now, lastTransitionTime: now };
  }
}

function isHeld(pod: StoredObject): boolean {
  return textsOf(partOf(pod, 'metadata'), 'finalizers').includes(trackingFinalizer);
}

function hasEnded(job: StoredObject): boolean {
  return conditionsOf(partOf(job, 'status')).some(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
}
