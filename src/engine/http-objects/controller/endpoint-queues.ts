import { Controller, type Priority, type ReconcileResult } from '#controller';
import { type Logger, silentMetrics } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { controllerName } from '../names.ts';
import { EndpointOutage, type ObjectResult } from './endpoint-outage.ts';
import { maxPerOrigin } from './request-limits.ts';

interface EndpointQueuesOptions {
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ObjectResult>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Queue {
  readonly controller: Controller;
  readonly stop: AbortController;
}

/**
 * One queue of objects for each endpoint, so that a dead endpoint delays no other. An object is in the queue of its endpoint, and never
 * reconciled twice at a time, also when it moves to another one.
 */
export class EndpointQueues {
  readonly #options: EndpointQueuesOptions;
  readonly #queues = new Map<string, Queue>();
  /** By object, the end of its running reconcile. */
  readonly #running = new Map<string, Promise<ObjectResult>>();
  /** Ends of queues. */
  readonly #ending = new Set<Promise<void>>();
  #signal: AbortSignal | undefined;

  constructor(options: EndpointQueuesOptions) {
    this.#options = options;
  }

  /** Adds an object to the queue of an endpoint. */
  enqueue(endpoint: string, key: string, priority: Priority = 'normal'): void {
    this.#queueOf(endpoint)?.controller.enqueue(key, priority);
  }

  /** Ends the queue of an endpoint that nothing uses, when its reconciles have ended. */
  remove(endpoint: string): void {
    this.#queues.get(endpoint)?.stop.abort();
    this.#queues.delete(endpoint);
  }

  /** Runs the queues until the signal aborts, and all reconciles have ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    for (const endpoint of [...this.#queues.keys()]) this.remove(endpoint);
    await Promise.all(this.#ending);
  }

  /** Undefined: they do not run. */
  #queueOf(endpoint: string): Queue | undefined {
    const known = this.#queues.get(endpoint);
    if (known !== undefined || this.#signal === undefined || this.#signal.aborted) return known;
    const { clock, logger } = this.#options;
    const outage = new EndpointOutage(() => controller.retryNow());
    const controller: Controller = new Controller({
      // Series by endpoint would be unbounded.
      ...{ name: controllerName, clock, logger, metrics: silentMetrics },
      // The limits of the endpoint may be lower.
      concurrency: maxPerOrigin,
      reconciler: { reconcile: (key, { signal }) => this.#reconcile(key, outage, signal) },
    });
    const stop = new AbortController();
    const queue = { controller, stop };
    this.#queues.set(endpoint, queue);
    const ended = controller.run(stop.signal).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
    return queue;
  }

  async #reconcile(
    key: string,
    outage: EndpointOutage,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    try {
      return outage.resultOf(key, await this.#reconcileAlone(key, signal));
    } catch (error) {
      outage.noteError(key);
      throw error;
    }
  }

  async #reconcileAlone(key: string, signal: AbortSignal): Promise<ObjectResult> {
    const before = this.#running.get(key);
    const run = (async () => {
      await before?.catch(() => {});
      return this.#options.reconcile(key, signal);
    })();
    this.#running.set(key, run);
    try {
      return await run;
    } finally {
      if (this.#running.get(key) === run) this.#running.delete(key);
    }
  }
}
