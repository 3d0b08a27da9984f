import type { OperatorPlan } from '#compile';
import type { ReconcileTrace } from '#reconcile';
import type { ReconcileObserver } from '#runtime';
import type { Clock } from '#util/clock.ts';
import { apiVersionOf } from '#util/gvk.ts';
import { keyOf } from '#util/kube-object.ts';
import type { Random } from '#util/random.ts';
import type { QueueDepths, ReconcileRecord, ResourceRef } from '#web';
import type { ReconcileRecords, RecordedResource } from './console-service.ts';
import { Feed, recordWeight } from './record-feed.ts';
import type { RecordsPage } from './remote-records.ts';
import { RunningReconcile } from './running-reconcile.ts';
import { TriggerTracker } from './trigger-tracker.ts';

export interface ReconcileRecorderOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The work queues now. @default none are known */
  readonly queues?: () => QueueDepths;
  /** Bound of all records: each counts as one, and so do its children and requests. @default 100_000, about 20 MB */
  readonly maxWeight?: number;
}

const letters = 'abcdefghijklmnopqrstuvwxyz';

/**
 * Records the reconciles of a process, in memory only: at most 200 for each resource, and a bounded number of all. Above the bound, the oldest
 * records of the resources are dropped that were not reconciled for the longest time.
 */
export class ReconcileRecorder implements ReconcileRecords, ReconcileObserver {
  readonly #options: ReconcileRecorderOptions & { readonly maxWeight: number };
  /** Of the digests: a value with few possibilities cannot be found by trying them. */
  readonly #salt: string;
  readonly #id: string;
  /** By kind and key; the one that was reconciled last at the end. */
  readonly #feeds = new Map<string, Feed>();
  readonly #trackers = new Map<string, TriggerTracker>();
  #weight = 0;
  #count = 0;

  constructor({ maxWeight = 100_000, ...options }: ReconcileRecorderOptions) {
    this.#options = { ...options, maxWeight };
    this.#salt = options.random.text(16, letters);
    this.#id = options.random.text(8, letters);
  }

  traceOf(plan: OperatorPlan): ReconcileTrace {
    return this.#traceOf(plan, '');
  }

  inMember(cluster: string): ReconcileObserver {
    return {
      traceOf: (plan) => this.#traceOf(plan, cluster),
      inMember: (name) => this.inMember(name),
    };
  }

  findProblem(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  queues(): Promise<QueueDepths> {
    return Promise.resolve(this.#options.queues?.() ?? {});
  }

  /** The records of a resource after a number, oldest first, for another process. Another `process` counts from 1 again. */
  read(resource: RecordedResource, after: number): RecordsPage {
    const records = this.#feeds.get(feedKeyOfResource(resource))?.records ?? [];
    return { process: this.#id, records: records.filter(({ number }) => number > after) };
  }

  async *follow(
    resource: RecordedResource,
    signal: AbortSignal,
  ): AsyncGenerator<ReconcileRecord, void, undefined> {
    yield* this.#open(feedKeyOfResource(resource)).follow(signal);
  }

  #traceOf(plan: OperatorPlan, cluster: string): ReconcileTrace {
    const { gvk } = plan.definition.kind;
    const own = { apiVersion: apiVersionOf(gvk), kind: gvk.kind };
    const tracker = this.#trackerOf(cluster, own);
    const running = new Map<string, RunningReconcile>();
    const { clock } = this.#options;
    return {
      onEnqueue: (key, cause, change) => tracker.note(key, { cause, change }, clock.monotonicMs()),
      onBegin: (key) => {
        const { since, ...trigger } = tracker.take(key, plan.revision);
        const begin = { trigger, since, revision: plan.revision };
        running.set(key, new RunningReconcile({ ...begin, clock, salt: this.#salt }));
      },
      onPhase: (key, phase) => running.get(key)?.phase(phase),
      onDesired: (key, childId, intent) => running.get(key)?.desired(childId, intent),
      onRequest: (key, request) => running.get(key)?.request(request) ?? (() => undefined),
      onDecisions: (key, record) => running.get(key)?.decided(record),
      onEnd: (key, end) => {
        const record = running.get(key)?.finish(end, this.#count + 1);
        running.delete(key);
        if (record === undefined) {
          // It no longer exists, or is paused.
          tracker.forget(key);
          return;
        }
        tracker.ended(key, end, plan.revision);
        this.#count += 1;
        this.#add(feedKeyOf(cluster, own, key), record);
      },
    };
  }

  #trackerOf(cluster: string, own: Pick<ResourceRef, 'apiVersion' | 'kind'>): TriggerTracker {
    const key = feedKeyOf(cluster, own, '');
    const tracker = this.#trackers.get(key) ?? new TriggerTracker(own);
    this.#trackers.set(key, tracker);
    return tracker;
  }

  #add(key: string, record: ReconcileRecord): void {
    const feed = this.#open(key);
    this.#weight += recordWeight(record) - feed.add(record);
    for (const [oldest, { records, isFollowed }] of this.#feeds) {
      while (this.#weight > this.#options.maxWeight) {
        const dropped = records.shift();
        if (dropped === undefined) break;
        this.#weight -= recordWeight(dropped);
      }
      if (records.length === 0 && !isFollowed) this.#feeds.delete(oldest);
      if (this.#weight <= this.#options.maxWeight) break;
    }
  }

  /** The feed, as the one that was used last. */
  #open(key: string): Feed {
    const feed = this.#feeds.get(key) ?? new Feed();
    this.#feeds.delete(key);
    this.#feeds.set(key, feed);
    return feed;
  }
}

function feedKeyOf(
  cluster: string,
  { apiVersion, kind }: Pick<ResourceRef, 'apiVersion' | 'kind'>,
  key: string,
): string {
  return `${cluster} ${apiVersion}/${kind} ${key}`;
}

function feedKeyOfResource(resource: RecordedResource): string {
  const { namespace, name, cluster = '' } = resource;
  return feedKeyOf(cluster, resource, keyOf(namespace, name));
}
