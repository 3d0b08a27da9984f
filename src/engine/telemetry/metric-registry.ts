import { monitorEventLoopDelay } from 'node:perf_hooks';
import * as prom from 'prom-client';
import { nextTurn } from '#util/next-turn.ts';
import { metricCatalogue, seriesOf } from './metric-catalogue.ts';
import type {
  Counter,
  Gauge,
  Histogram,
  LabelValues,
  MetricOptions,
  MetricRegistry,
} from './roles.ts';

/** A registry whose metrics can be read by `/metrics`. */
export interface ReadableMetricRegistry extends MetricRegistry {
  readonly contentType: string;
  /** The text exposition of all metrics. */
  expose(): Promise<string>;
}

/** Buckets for reconciles and for requests to a nearby API server. */
const defaultBucketsSeconds = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

export interface MetricRegistryOptions {
  /** Adds `process_*` and `nodejs_*` metrics (memory, CPU) and the event loop delay. @default false */
  readonly processMetrics?: boolean;
}

/** Creates a registry based on prom-client. No other file imports prom-client. */
export function createMetricRegistry(options: MetricRegistryOptions = {}): ReadableMetricRegistry {
  const registry = new prom.Registry();
  if (options.processMetrics) measureProcess(registry);
  const metrics = new Map<string, Counter | Gauge | Histogram>();
  /** By label: the values whose series the next removal removes. */
  const removed = new Map<string, Set<string>>();
  let removal: Promise<void> | undefined;

  function getOrCreate<T extends Counter | Gauge | Histogram>(name: string, create: () => T): T {
    // Every controller requests the same names. A name always has the same type: all names come from the catalogue.
    const existing = metrics.get(name);
    if (existing !== undefined) return existing as T;
    const metric = create();
    metrics.set(name, metric);
    return metric;
  }

  return {
    contentType: registry.contentType,
    expose: () => registry.metrics(),
    counter: (spec) => getOrCreate(spec.name, () => counterOn(registry, spec)),
    gauge: (spec) => getOrCreate(spec.name, () => gaugeOn(registry, spec)),
    histogram: (spec) => getOrCreate(spec.name, () => histogramOn(registry, spec)),
    removeSeries(label, value) {
      const values = removed.get(label) ?? new Set();
      removed.set(label, values.add(value));
      // One search for all: many definitions often end together.
      removal ??= nextTurn().then(async () => {
        removal = undefined;
        const matching = new Map(removed);
        removed.clear();
        for (const name of metrics.keys())
          await removeMatchingSeries(registry.getSingleMetric(name), matching);
      });
      return removal;
    },
  };
}

function measureProcess(registry: prom.Registry): void {
  prom.collectDefaultMetrics({ register: registry });
  const delay = new EventLoopDelay();
  const gauge = new prom.Gauge({
    ...configOf(registry, metricCatalogue.eventLoopDelay),
    collect() {
      for (const { quantile, seconds } of delay.take()) gauge.set({ quantile }, seconds);
    },
  });
}

async function removeMatchingSeries(
  metric: prom.Metric | undefined,
  matching: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<void> {
  if (metric === undefined) return;
  const { values } = await metric.get();
  for (const { labels } of values) {
    // A histogram has one entry per bucket: the entries of a series differ in `le`.
    const { le, ...own } = labels as Readonly<Record<string, string | number>>;
    const isMatch = Object.keys(own).some((label) => matching.get(label)?.has(String(own[label])));
    if (isMatch) metric.remove(own);
  }
}

/** All series of a metric if the values of every label are known, otherwise none. */
function knownSeriesOf(spec: MetricOptions): readonly LabelValues[] {
  const { labels = [], values = {} } = spec;
  return labels.every((label) => values[label] !== undefined) ? seriesOf(spec) : [];
}

function configOf(registry: prom.Registry, { name, help, labels = [] }: MetricOptions) {
  return { name, help, labelNames: [...labels], registers: [registry] };
}

function counterOn(registry: prom.Registry, spec: MetricOptions): Counter {
  const metric = new prom.Counter(configOf(registry, spec));
  for (const series of knownSeriesOf(spec)) metric.labels(...series).inc(0);
  return { increment: (labels = [], by = 1) => metric.labels(...labels).inc(by) };
}

function gaugeOn(registry: prom.Registry, spec: MetricOptions): Gauge {
  const metric = new prom.Gauge(configOf(registry, spec));
  for (const series of knownSeriesOf(spec)) metric.labels(...series).set(0);
  return {
    set: (value, labels = []) => metric.labels(...labels).set(value),
    add: (delta, labels = []) => metric.labels(...labels).inc(delta),
    remove: (labels: LabelValues) => metric.remove(...labels),
  };
}

function histogramOn(
  registry: prom.Registry,
  spec: MetricOptions & { readonly bucketsSeconds?: readonly number[] },
): Histogram {
  const buckets = [...(spec.bucketsSeconds ?? defaultBucketsSeconds)];
  const metric = new prom.Histogram({ ...configOf(registry, spec), buckets });
  const { labels: names = [] } = spec;
  const begin = (labels: LabelValues) =>
    metric.zero(Object.fromEntries(names.map((name, index) => [name, labels[index] ?? ''])));
  for (const series of knownSeriesOf(spec)) begin(series);
  return {
    initialize: begin,
    observe: (value, labels = []) => metric.labels(...labels).observe(value),
  };
}

const resolutionMs = 10;
const quantiles = [0.5, 0.9, 0.99, 1] as const;

/** Measures the event loop delay. Costs one native timer every ten milliseconds. */
class EventLoopDelay {
  readonly #histogram: ReturnType<typeof monitorEventLoopDelay>;

  constructor() {
    this.#histogram = monitorEventLoopDelay({ resolution: resolutionMs });
    this.#histogram.enable();
  }

  /** Quantiles in seconds since the last call; resets the measurement. */
  take(): readonly { readonly quantile: string; readonly seconds: number }[] {
    const histogram = this.#histogram;
    const delays = quantiles.map((quantile) => {
      const nanoseconds = quantile === 1 ? histogram.max : histogram.percentile(quantile * 100);
      // The histogram measures the interval between two timer ticks. Without samples its maximum is invalid.
      const delayMs = histogram.count === 0 ? 0 : nanoseconds / 1e6 - resolutionMs;
      return { quantile: String(quantile), seconds: Math.max(0, delayMs) / 1_000 };
    });
    histogram.reset();
    return delays;
  }
}
