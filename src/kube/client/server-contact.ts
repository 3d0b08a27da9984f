import type { Gauge, MetricRegistry } from '../../telemetry/roles.ts';
import { metricCatalogue } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';

/** Is the server there? Knows it from the requests and watches that are made anyway, and sends none of its own. */
export class ServerContact {
  readonly #clock: Clock;
  readonly #gauge: Gauge;
  #lostSinceMs: number | undefined;

  constructor(clock: Clock, metrics: MetricRegistry) {
    this.#clock = clock;
    this.#gauge = metrics.gauge(metricCatalogue.apiServerReachable);
    // Until somebody has asked in vain.
    this.#gauge.set(1);
  }

  /** How long nothing has come any more, since the first try that got no answer; 0 while the server answers. */
  get lostForMs(): number {
    return this.#lostSinceMs === undefined ? 0 : this.#clock.monotonicMs() - this.#lostSinceMs;
  }

  /** Something came, a refusal or an event of a watch included. */
  heard(): void {
    if (this.#lostSinceMs === undefined) return;
    this.#lostSinceMs = undefined;
    this.#gauge.set(1);
  }

  /** A try got no answer. */
  missed(): void {
    if (this.#lostSinceMs !== undefined) return;
    this.#lostSinceMs = this.#clock.monotonicMs();
    this.#gauge.set(0);
  }
}
