import {
  type Counter,
  type Logger,
  type MetricRegistry,
  metricCatalogue,
} from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { failureFields } from '../../util/failure-fields.ts';
import type { Random } from '../../util/random.ts';
import type { ApiClient, ApiRequest } from '../client/api-client.ts';
import { KubeError, type KubeErrorCode } from '../kube-error.ts';
import type { EventInput, EventRecorder, EventsRefused } from '../roles.ts';
import { BurstLimit } from './burst-limit.ts';
import { createEventBody, eventKey, microTime } from './event-body.ts';
import { EventRefusals } from './event-refusals.ts';
import { RecentMap } from './recent-map.ts';

export interface EventRecorderOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Which process says so: `homeostat-<host>`. Cut to 128 bytes. */
  readonly instance: string;
  /** Are Events taken? @default always */
  readonly isOpen?: () => boolean;
}

export interface ClosableEventRecorder extends EventRecorder {
  /** Undefined while Events are taken, or nobody has tried. */
  readonly refused: EventsRefused | undefined;
  /** Takes nothing more, sends what is queued for at most two seconds, ends. */
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

/** The server, or the way to it, is in trouble; what it says about the Event itself will not change. */
const passing: ReadonlySet<KubeErrorCode> = new Set([
  'unavailable',
  'timeout',
  'too-many-requests',
  'server-error',
  'webhook-failed',
  'connection-lost',
  'unauthorized',
]);

/** The occurrences of one event. */
interface EventSeries {
  readonly namespace: string;
  readonly name: string;
  readonly definition: string;
  count: number;
  lastSeenMs: number;
  /** The count that the server knows, or is about to. */
  writtenCount: number;
  writtenAtMs: number;
  /** Has the server taken the event itself? Its count can be written only then. */
  isCreated: boolean;
  /** The count is to be written as soon as that is so. */
  isCountDue: boolean;
}

interface Delivery {
  readonly request: ApiRequest;
  readonly key: string;
  readonly series: EventSeries;
  tries: number;
}

/**
 * Events on events.k8s.io/v1 in a queue of their own: `record` returns at once and never throws. An event that
 * occurs again within six minutes becomes a series: written at the second time, then every half hour and when it ends.
 */
export function createEventRecorder(options: EventRecorderOptions): ClosableEventRecorder {
  return new QueuedEventRecorder(options);
}

class QueuedEventRecorder implements ClosableEventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #limit = new BurstLimit(burst);
  readonly #series = new RecentMap<string, EventSeries>(maxSeries);
  readonly #queue: Delivery[] = [];
  readonly #stop = new AbortController();
  readonly #dropped: Counter;
  readonly #sending = new Set<Promise<void>>();
  readonly #refusals: EventRefusals;
  #activeSenders = 0;
  #cancelSweep: (() => void) | undefined;
  #isClosed = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#dropped = options.metrics.counter(metricCatalogue.eventsDropped);
    this.#refusals = new EventRefusals(options.clock, options.logger);
  }

  get refused(): EventsRefused | undefined {
    return this.#refusals.current;
  }

  record(event: EventInput): void {
    const { isOpen = () => true } = this.#options;
    if (this.#isClosed || !isOpen()) return;
    try {
      this.#observe(event);
    } catch (error) {
      this.#options.logger.error({ err: error }, 'Event could not be recorded');
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
      if (series.count === 2) this.#tellCount(key, series);
      return;
    }
    if (series !== undefined) this.#tellCount(key, series);
    if (!this.#limit.allows(subjectKey(event), nowMs)) {
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
    const [pushedOutKey, pushedOut] = this.#series.set(key, started) ?? [];
    if (pushedOut !== undefined) this.#tellCount(pushedOutKey ?? '', pushedOut);
    const path = collectionPath(namespace);
    const request = { method: 'POST', path, body, flow: flowOf(event.definition) } as const;
    this.#enqueue({ request, key, series: started, tries: 0 });
    this.#scheduleSweep();
  }

  /** Writes the count, if the server does not know it. */
  #tellCount(key: string, series: EventSeries): void {
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
      this.#tellCount(key, series);
    }
  }

  /** While there are series one timer looks after them. */
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
      if (nowMs - series.writtenAtMs >= refreshMs) this.#tellCount(key, series);
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
    // In one step with the look at the empty queue: an event that comes right after it starts a new sender.
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
      if (outcome === 'refused' || delivery.tries >= maxTries)
        return this.#drop(delivery, 'refused');
      await clock.sleep(retryPauseMs, signal).catch(ignoreAbort);
    }
  }

  async #try({ request, series: { namespace } }: Delivery): Promise<'sent' | 'refused' | 'failed'> {
    const { api, logger } = this.#options;
    try {
      await api.request(request, this.#stop.signal);
      this.#refusals.taken(namespace);
      return 'sent';
    } catch (error) {
      logger.debug(failureFields(error), 'Event was not taken');
      if (!(error instanceof KubeError)) return 'refused';
      // The answer to an earlier try was lost.
      if (error.code === 'already-exists') return 'sent';
      if (error.code === 'forbidden') this.#refusals.refused(namespace, error.right);
      return passing.has(error.code) ? 'failed' : 'refused';
    }
  }

  #created({ key, series }: Delivery): void {
    series.isCreated = true;
    if (series.isCountDue) this.#tellCount(key, series);
  }

  /** The next occurrence is told as a new event. */
  #drop({ key, series }: Delivery, reason: 'queue-full' | 'refused'): void {
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
  // The loop looks at the signal.
}
