import {
  type Gauge,
  type LabelValues,
  type MetricOptions,
  type MetricRegistry,
  silentMetrics,
} from '#telemetry/roles.ts';

/**
 * Metrics of a definition in one member: the series of the definition are sums over all clusters. Its states are
 * measured once for all clusters, not here.
 */
export class SummedMetrics implements MetricRegistry {
  readonly #metrics: MetricRegistry;
  readonly #gauges = new Map<string, SummedGauge>();

  constructor(metrics: MetricRegistry) {
    this.#metrics = metrics;
  }

  counter(options: MetricOptions) {
    return this.#metrics.counter(options);
  }

  histogram(options: Parameters<MetricRegistry['histogram']>[0]) {
    return this.#metrics.histogram(options);
  }

  gauge(options: MetricOptions): Gauge {
    if (options.labels?.includes('definition') === true) return silentMetrics.gauge(options);
    const known = this.#gauges.get(options.name);
    const gauge = known ?? new SummedGauge(this.#metrics.gauge(options));
    this.#gauges.set(options.name, gauge);
    return gauge;
  }

  /** Takes this member out of the sums. The series stay for other clusters. */
  async removeSeries(): Promise<void> {
    for (const gauge of this.#gauges.values()) gauge.clear();
  }
}

/** Adds the changes of its value to the sum. */
class SummedGauge implements Gauge {
  readonly #sum: Gauge;
  readonly #own = new Map<string, { readonly labels: LabelValues; readonly value: number }>();

  constructor(sum: Gauge) {
    this.#sum = sum;
  }

  set(value: number, labels: LabelValues = []): void {
    this.add(value - this.#valueOf(labels), labels);
  }

  add(delta: number, labels: LabelValues = []): void {
    this.#own.set(labels.join('\0'), { labels, value: this.#valueOf(labels) + delta });
    this.#sum.add(delta, labels);
  }

  remove(labels: LabelValues): void {
    this.set(0, labels);
  }

  clear(): void {
    for (const { labels } of [...this.#own.values()]) this.set(0, labels);
    this.#own.clear();
  }

  #valueOf(labels: LabelValues): number {
    return this.#own.get(labels.join('\0'))?.value ?? 0;
  }
}
