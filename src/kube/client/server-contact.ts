import {
  type Gauge,
  type Logger,
  type MetricRegistry,
  metricCatalogue,
} from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { ServerSilence } from '../server-silence.ts';

export interface ServerContactOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

type Kind = ServerSilence['kind'];

interface Loss {
  readonly sinceMs: number;
  kind: Kind;
  /** What the log was told. */
  told: Kind | undefined;
}

/** A single try in vain is no outage; the next one comes soon. */
const tellAfterMs = 1_000;

const lossMessages = {
  unanswered: 'The API server does not answer',
  unauthorized: 'The API server does not accept our credentials',
} as const;

/** Is the server there, and does it let us in? Knows it from the requests and watches that are made anyway, and sends none of its own. */
export class ServerContact {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #gauge: Gauge;
  readonly #admittedListeners = new Set<() => void>();
  #loss: Loss | undefined;

  constructor({ clock, logger, metrics }: ServerContactOptions) {
    this.#clock = clock;
    this.#logger = logger;
    this.#gauge = metrics.gauge(metricCatalogue.apiServerReachable);
    // Until somebody has asked in vain.
    this.#gauge.set(1);
  }

  /** Undefined while the server answers. */
  get silence(): ServerSilence | undefined {
    if (this.#loss === undefined) return undefined;
    const { kind, sinceMs } = this.#loss;
    return { kind, forMs: this.#clock.monotonicMs() - sinceMs };
  }

  /** Calls back when our credentials are accepted again. Returns the unsubscribe function. */
  onAdmitted(listener: () => void): () => void {
    this.#admittedListeners.add(listener);
    return () => this.#admittedListeners.delete(listener);
  }

  /** Something came, a refusal or an event of a watch included. */
  heard(): void {
    if (this.#loss === undefined) return;
    const { kind, sinceMs, told } = this.#loss;
    this.#loss = undefined;
    this.#gauge.set(1);
    if (told !== undefined) {
      const lostForMs = Math.round(this.#clock.monotonicMs() - sinceMs);
      this.#logger.info({ lostForMs }, 'The API server answers again');
    }
    if (kind === 'unauthorized') for (const listener of [...this.#admittedListeners]) listener();
  }

  /** A try was in vain. */
  missed(kind: Kind): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#loss === undefined) {
      this.#loss = { sinceMs: nowMs, kind, told: undefined };
      this.#gauge.set(0);
      return;
    }
    this.#loss.kind = kind;
    if (this.#loss.told === kind || nowMs - this.#loss.sinceMs < tellAfterMs) return;
    this.#loss.told = kind;
    this.#logger.warn({}, lossMessages[kind]);
  }
}
