import type { OperatorPlan } from '../compile/index.ts';
import type { DecisionRecord, ObjectChange } from '../reconcile/index.ts';
import type { ReconcileObserver } from '../runtime/index.ts';
import type { Clock } from '../util/clock.ts';
import { apiVersionOf } from '../util/gvk.ts';
import { keyOf } from '../util/kube-object.ts';
import type { ReconcileRecord, ResourceRef } from '../web/index.ts';
import type { ReconcileRecords } from './console-service.ts';

/** Reconciles of one resource. */
interface Feed {
  readonly records: ReconcileRecord[];
  readonly listeners: Set<(record: ReconcileRecord) => void>;
  /** Changes since the last reconcile began. */
  causes: string[];
  /** Those of the reconcile that runs. */
  running: { readonly causes: readonly string[]; readonly startMs: number } | undefined;
}

const maxRecords = 200;
/** Resources whose records are kept. Those that a page follows are never dropped. */
const maxResources = 50;
/** More causes of one reconcile are counted. */
const maxCauses = 3;

/**
 * Records the reconciles of resources, from the first time that a page follows them: what enqueued them, what they decided, how long they took.
 * In memory only, and bounded. A reconcile of any other resource costs one look-up in a map.
 */
export class ReconcileRecorder implements ReconcileRecords, ReconcileObserver {
  readonly #clock: Clock;
  /** By kind and key; the one that was opened last at the end. */
  readonly #feeds = new Map<string, Feed>();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  onChange(plan: OperatorPlan, key: string, change: ObjectChange): void {
    const feed = this.#feeds.get(feedKeyOf(plan, key));
    if (feed === undefined) return;
    const cause = causeOf(change);
    if (!feed.causes.includes(cause)) feed.causes.push(cause);
  }

  onBegin(plan: OperatorPlan, key: string): void {
    const feed = this.#feeds.get(feedKeyOf(plan, key));
    if (feed === undefined) return;
    feed.running = { causes: feed.causes, startMs: this.#clock.monotonicMs() };
    feed.causes = [];
  }

  onDecisions(
    plan: OperatorPlan,
    key: string,
    { children, status, isReady }: DecisionRecord,
  ): void {
    const feed = this.#feeds.get(feedKeyOf(plan, key));
    const running = feed?.running;
    if (feed === undefined || running === undefined) return;
    feed.running = undefined;
    const record: ReconcileRecord = {
      number: ++this.#count,
      time: new Date(this.#clock.nowMs()).toISOString(),
      durationMs: Math.round(this.#clock.monotonicMs() - running.startMs),
      trigger: causesText(running.causes),
      revision: plan.revision,
      children: children.map(
        ({ childId, kind, apiVersion, namespace, name, verdict, message }) => ({
          ...{ id: childId, kind, apiVersion, namespace, name, message },
          verdict: verdict.kind,
        }),
      ),
      ...{ status, isReady },
    };
    feed.records.push(record);
    if (feed.records.length > maxRecords) feed.records.shift();
    for (const listener of feed.listeners) listener(record);
  }

  async *follow(
    resource: ResourceRef,
    signal: AbortSignal,
  ): AsyncGenerator<ReconcileRecord, void, undefined> {
    const feed = this.#open(resource);
    const pending = [...feed.records];
    let wake: () => void = () => undefined;
    const listener = (record: ReconcileRecord) => {
      pending.push(record);
      wake();
    };
    const onAbort = () => wake();
    feed.listeners.add(listener);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      while (!signal.aborted) {
        yield* pending.splice(0);
        if (pending.length > 0 || signal.aborted) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      feed.listeners.delete(listener);
    }
  }

  #open({ apiVersion, kind, namespace, name }: ResourceRef): Feed {
    const key = `${apiVersion}/${kind} ${keyOf(namespace, name)}`;
    const feed = this.#feeds.get(key) ?? {
      ...{ records: [], listeners: new Set<(record: ReconcileRecord) => void>() },
      ...{ causes: [], running: undefined },
    };
    this.#feeds.delete(key);
    this.#feeds.set(key, feed);
    for (const [other, { listeners }] of this.#feeds) {
      if (this.#feeds.size <= maxResources) break;
      if (listeners.size === 0 && other !== key) this.#feeds.delete(other);
    }
    return feed;
  }
}

function feedKeyOf({ definition }: OperatorPlan, key: string): string {
  const { gvk } = definition.kind;
  return `${apiVersionOf(gvk)}/${gvk.kind} ${key}`;
}

function causeOf({ old, current }: ObjectChange): string {
  const object = (current ?? old)?.object;
  if (object === undefined) return 'a change';
  const { kind, metadata } = object;
  const what =
    old === undefined
      ? 'was created'
      : current === undefined
        ? 'was deleted'
        : changeOf(old, current);
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name} ${what}`;
}

function changeOf(
  { object: before }: NonNullable<ObjectChange['old']>,
  { object: after }: NonNullable<ObjectChange['current']>,
): string {
  if (before.metadata.generation !== after.metadata.generation) return 'was edited';
  if (before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp)
    return 'is being deleted';
  return JSON.stringify(before.status) === JSON.stringify(after.status)
    ? 'changed'
    : 'changed its status';
}

/** Without an event it is a retry, a timer, a reload or a resync. */
function causesText(causes: readonly string[]): string {
  if (causes.length === 0) return 'a timer, a retry or a reload';
  const shown = causes.slice(0, maxCauses).join(', ');
  return causes.length > maxCauses ? `${shown} and ${causes.length - maxCauses} more` : shown;
}
