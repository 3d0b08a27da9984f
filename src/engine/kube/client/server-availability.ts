import { type Gauge, type Logger, type MetricRegistry, metricCatalogue } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import type { ServerUnreachable } from '../roles.ts';

interface ServerAvailabilityOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

type Kind = ServerUnreachable['kind'];

interface Loss {
  readonly sinceMs: number;
  kind: Kind;
  /** The kind that was logged. */
  logged: Kind | undefined;
}

/** A single failure is not an outage: log only after this time. */
const logAfterMs = 1_000;

const lossMessages = {
  unreachable: 'The API server does not respond',
  unauthorized: 'The API server does not accept our credentials',
} as const;

/**
 * Tracks whether the server responds and accepts our credentials. Based on regular requests and watches; sends none
 * of its own.
 */
export class ServerAvailability {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #gauge: Gauge;
  readonly #authenticatedListeners = new Set<() => void>();
  #loss: Loss | undefined;

  constructor({ clock, logger, metrics }: ServerAvailabilityOptions) {
    this.#clock = clock;
    this.#logger = logger;
    this.#gauge = metrics.gauge(metricCatalogue.apiServerReachable);
    // Reachable until the first failure.
    this.#gauge.set(1);
  }

  /** Undefined while the server responds. */
  get unreachable(): ServerUnreachable | undefined {
    if (this.#loss === undefined) return undefined;
    const { kind, sinceMs } = this.#loss;
    return { kind, forMs: this.#clock.monotonicMs() - sinceMs };
  }

  /** Notifies when the server accepts our credentials again. Returns the unsubscribe function. */
  onAuthenticated(listener: () => void): () => void {
    this.#authenticatedListeners.add(listener);
    return () => this.#authenticatedListeners.delete(listener);
  }

  /** Data arrived: any response, or an event of a watch. */
  recordResponse(): void {
    if (this.#loss === undefined) return;
    const { kind, sinceMs, logged } = this.#loss;
    this.#loss = undefined;
    this.#gauge.set(1);
    if (logged !== undefined) {
      const lostForMs = Math.round(this.#clock.monotonicMs() - sinceMs);
      this.#logger.info({ lostForMs }, 'The API server responds again');
    }
    if (kind === 'unauthorized')
      for (const listener of [...this.#authenticatedListeners]) listener();
  }

  /** A request failed. */
  recordFailure(kind: Kind): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#loss === undefined) {
      this.#loss = { sinceMs: nowMs, kind, logged: undefined };
      this.#gauge.set(0);
      return;
    }
    this.#loss.kind = kind;
    if (this.#loss.logged === kind || nowMs - this.#loss.sinceMs < logAfterMs) return;
    this.#loss.logged = kind;
    this.#logger.warn({}, lossMessages[kind]);
  }
}
