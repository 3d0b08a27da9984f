import {
  type Counter,
  type Logger,
  type MetricRegistry,
  metricCatalogue,
} from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { errorLogFields } from '#util/homeostat-error.ts';
import type { Random } from '#util/random.ts';
import type { ApiClient, ApiRequest } from '../client/api-client.ts';
import { KubeError, type KubeErrorCode } from '../kube-error.ts';
import type { EventInput, EventRecorder, EventsDenied } from '../roles.ts';
import { createEventBody, eventKey, microTime } from './event-body.ts';
import { BurstLimit, EventDenials, LruMap } from './event-limits.ts';

interface EventRecorderOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** `reportingInstance`: `homeostat-<host>`. Truncated to 128 bytes. */
  readonly instance: string;
  /** Returns whether Events are recorded. @default always */
  readonly isOpen?: () => boolean;
}

export interface ClosableEventRecorder extends EventRecorder {
  /** Undefined until an Event is denied. */
  readonly denied: EventsDenied | undefined;
  /** Stops recording and sends queued Events for at most two seconds. */
  close(): Promise<void>;
}

const maxQueued = 1_000;
const maxSeries = 4_096;
const senders = 4;
const idleMs = 6 * 60_000;
const refreshMs = 30 * 60_000;
const sweepMs = 60_000;
const burst = { burst: 25, refillMs: 5 * 60_000, maxKeys: 4_096 };
const maxTries = 12;
const retryPauseMs = 10_000;
const drainMs = 2_000;

/** Temporary failures. Other codes concern the Event itself and are not retried. */
const temporaryCodes: ReadonlySet<KubeErrorCode> = new Set([
  'unavailable',
  'timeout',
  'too-many-requests',
  'server-error',
  'webhook-failed',
  'connection-lost',
  'unauthorized',
]);

/** The occurrences of one Event. */
interface EventSeries {
  readonly namespace: string;
  readonly name: string;
  readonly definition: string;
  count: number;
  lastSeenMs: number;
  /** The count that was sent to the server. */
  writtenCount: number;
  writtenAtMs: number;
  /** Whether the server has created the Event. Its count can be written only then. */
  isCreated: boolean;
  /** Whether to write the count after the creation. */
  isCountDue: boolean;
}

interface Delivery {
  readonly request: ApiRequest;
  readonly key: string;
  readonly series: EventSeries;
  tries: number;
}

/**
 * Records Events (events.k8s.io/v1) through a separate queue: `record` returns at once and never throws. An Event
 * that occurs again within six minutes becomes a series. A series is written at the second occurrence, every half
 * hour and at its end.
 */
export function createEventRecorder(options: EventRecorderOptions): ClosableEventRecorder {
  return new QueuedEventRecorder(options);
}

class QueuedEventRecorder implements ClosableEventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #limit: BurstLimit;
  readonly #series = new LruMap<string, EventSeries>(maxSeries);
  readonly #queue: Delivery[] = [];
  readonly #stop = new AbortController();
  readonly #dropped: Counter;
  readonly #sending = new Set<Promise<void>>();
  readonly #rejections: EventDenials;
  #activeSenders = 0;
  #cancelSweep: (() => void) | undefined;
  #isClosed = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#limit = new BurstLimit(options.clock, burst);
    this.#dropped = options.metrics.counter(metricCatalogue.eventsDropped);
    this.#rejections = new EventDenials(options.clock, options.logger);
  }

  get denied(): EventsDenied | undefined {
    return this.#rejections.current;
  }

  record(event: EventInput): void {
    const { isOpen = () => true } = this.#options;
    if (this.#isClosed || !isOpen()) return;
    try {
      this.#observe(event);
    } catch (error) {
      this.#options.logger.error({ err: error }, 'Recording an Event failed');
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelSweep?.();
    this.#finishSeries(() => true);
    const cancel = this.#options.clock.after(drainMs, () => this.#stop.abort());
    while (this.#sending.size > 0) await Promise.all(this.#sending);
    cancel();
    this.#stop.abort();
  }

  #observe(event: EventInput): void {
    const { clock, random, instance } = this.#options;
    const nowMs = clock.nowMs();
    const key = eventKey(event);
    const series = this.#series.get(key);
    if (series !== undefined && nowMs - series.lastSeenMs < idleMs) {
      series.count += 1;
      series.lastSeenMs = nowMs;
      if (series.count === 2) this.#writeCount(key, series);
      return;
    }
    if (series !== undefined) this.#writeCount(key, series);
    if (!this.#limit.allows(subjectKey(event))) {
      this.#dropped.increment(['burst']);
      return;
    }
    const body = createEventBody(event, { nowMs, instance, random });
    const { name, namespace } = body.metadata;
    const started = {
      name,
      namespace,
      definition: event.definition,
      count: 1,
      lastSeenMs: nowMs,
      writtenCount: 1,
      writtenAtMs: nowMs,
      isCreated: false,
      isCountDue: false,
    };
    const [evictedKey, evicted] = this.#series.set(key, started) ?? [];
    if (evicted !== undefined) this.#writeCount(evictedKey ?? '', evicted);
    const path = collectionPath(namespace);
    const request = { method: 'POST', path, body, flow: flowOf(event.definition) } as const;
    this.#enqueue({ request, key, series: started, tries: 0 });
    this.#scheduleSweep();
  }

  /** Writes the count if it has changed since the last write. */
  #writeCount(key: string, series: EventSeries): void {
    const { namespace, name, count, lastSeenMs, definition } = series;
    if (count <= series.writtenCount) return;
    series.isCountDue = !series.isCreated;
    if (series.isCountDue) return;
    series.writtenCount = count;
    series.writtenAtMs = this.#options.clock.nowMs();
    const request = {
      method: 'PATCH',
      path: `${collectionPath(namespace)}/${encodeURIComponent(name)}`,
      contentType: 'application/merge-patch+json',
      body: { series: { count, lastObservedTime: microTime(lastSeenMs) } },
      flow: flowOf(definition),
    } as const;
    this.#enqueue({ request, key, series, tries: 0 });
  }

  #finishSeries(isOver: (series: EventSeries) => boolean): void {
    for (const [key, series] of [...this.#series.entries()]) {
      if (!isOver(series)) continue;
      this.#series.delete(key);
      this.#writeCount(key, series);
    }
  }

  /** One timer refreshes all series while there are any. */
  #scheduleSweep(): void {
    if (this.#cancelSweep !== undefined || this.#isClosed || this.#series.size === 0) return;
    this.#cancelSweep = this.#options.clock.after(sweepMs, () => {
      this.#cancelSweep = undefined;
      this.#sweep();
      this.#scheduleSweep();
    });
  }

  #sweep(): void {
    const nowMs = this.#options.clock.nowMs();
    this.#finishSeries(({ lastSeenMs }) => nowMs - lastSeenMs >= idleMs);
    for (const [key, series] of this.#series.entries()) {
      if (nowMs - series.writtenAtMs >= refreshMs) this.#writeCount(key, series);
    }
  }

  #enqueue(delivery: Delivery): void {
    this.#queue.push(delivery);
    if (this.#queue.length > maxQueued) {
      const oldest = this.#queue.shift();
      if (oldest !== undefined) this.#drop(oldest, 'queue-full');
    }
    if (this.#activeSenders >= senders) return;
    const sending = this.#send().finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  async #send(): Promise<void> {
    this.#activeSenders += 1;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (this.#stop.signal.aborted) break;
      await this.#deliver(next);
    }
    // Synchronous with the check of the empty queue: a later Event starts a new sender.
    this.#activeSenders -= 1;
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      delivery.tries += 1;
      const outcome = await this.#try(delivery);
      if (outcome === 'sent') return this.#created(delivery);
      if (signal.aborted) return;
      if (outcome === 'rejected' || delivery.tries >= maxTries)
        return this.#drop(delivery, 'rejected');
      await clock.sleep(retryPauseMs, signal).catch(ignoreAbort);
    }
  }

  async #try({
    request,
    series: { namespace },
  }: Delivery): Promise<'sent' | 'rejected' | 'failed'> {
    const { api, logger } = this.#options;
    try {
      await api.request(request, this.#stop.signal);
      this.#rejections.accepted(namespace);
      return 'sent';
    } catch (error) {
      logger.debug(errorLogFields(error), 'The API server did not accept an Event');
      if (!(error instanceof KubeError)) return 'rejected';
      // The response to an earlier attempt was lost.
      if (error.code === 'already-exists') return 'sent';
      if (error.code === 'forbidden') this.#rejections.denied(namespace, error.right);
      return temporaryCodes.has(error.code) ? 'failed' : 'rejected';
    }
  }

  #created({ key, series }: Delivery): void {
    series.isCreated = true;
    if (series.isCountDue) this.#writeCount(key, series);
  }

  /** The next occurrence becomes a new Event. */
  #drop({ key, series }: Delivery, reason: 'queue-full' | 'rejected'): void {
    this.#dropped.increment([reason]);
    if (this.#series.get(key) === series) this.#series.delete(key);
  }
}

function collectionPath(namespace: string): string {
  return `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;
}

function subjectKey({ regarding: { apiVersion, kind, metadata } }: EventInput): string {
  return JSON.stringify([apiVersion, kind, metadata.namespace ?? '', metadata.name, metadata.uid]);
}

function flowOf(definition: string): ApiRequest['flow'] {
  return { name: definition, priority: 'event' };
}

function ignoreAbort(): void {
  // The loop checks the signal.
}
