import * as prom from 'prom-client';
import { EventLoopDelay } from './event-loop-delay.ts';
import { metricCatalogue, seriesOf } from './metric-catalogue.ts';
import type {
  Counter,
  Gauge,
  Histogram,
  LabelValues,
  MetricOptions,
  MetricRegistry,
} from './roles.ts';

/** A registry that can also be read: what `/metrics` serves. */
export interface ReadableMetricRegistry extends MetricRegistry {
  readonly contentType: string;
  /** The text exposition of all metrics. */
  expose(): Promise<string>;
}

/** Bounds that suit passes and requests against a near API server. */
const defaultBucketsSeconds = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

export interface MetricRegistryOptions {
  /** Adds `process_*` and `nodejs_*` (memory, CPU) and the delay of the event loop. @default false */
  readonly processMetrics?: boolean;
}

/** Metrics on prom-client, which has no door but this one. */
export function createMetricRegistry(options: MetricRegistryOptions = {}): ReadableMetricRegistry {
  const registry = new prom.Registry();
  if (options.processMetrics) measureProcess(registry);
  const made = new Map<string, Counter | Gauge | Histogram>();

  function once<T extends Counter | Gauge | Histogram>(name: string, make: () => T): T {
    // A name is asked for by every controller that feeds it; kinds never clash, as all names are ours.
    const known = made.get(name);
    if (known !== undefined) return known as T;
    const metric = make();
    made.set(name, metric);
    return metric;
  }

  return {
    contentType: registry.contentType,
    expose: () => registry.metrics(),
    counter: (spec) => once(spec.name, () => counterOn(registry, spec)),
    gauge: (spec) => once(spec.name, () => gaugeOn(registry, spec)),
    histogram: (spec) => once(spec.name, () => histogramOn(registry, spec)),
    async forget(label, value) {
      for (const name of made.keys()) {
        await forgetSeries(registry.getSingleMetric(name), label, value);
      }
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

async function forgetSeries(
  metric: prom.Metric | undefined,
  label: string,
  value: string,
): Promise<void> {
  if (metric === undefined) return;
  const { values } = await metric.get();
  for (const { labels } of values) {
    // A histogram has an entry for each bucket: those of a series differ in one more label.
    const { le, ...own } = labels as Readonly<Record<string, string | number>>;
    if (own[label] === value) metric.remove(own);
  }
}

/** Of the metrics whose labels all have known values. */
function seriesKnownOf(spec: MetricOptions): readonly LabelValues[] {
  const { labels = [], values = {} } = spec;
  return labels.every((label) => values[label] !== undefined) ? seriesOf(spec) : [];
}

function configOf(registry: prom.Registry, { name, help, labels = [] }: MetricOptions) {
  return { name, help, labelNames: [...labels], registers: [registry] };
}

function counterOn(registry: prom.Registry, spec: MetricOptions): Counter {
  const metric = new prom.Counter(configOf(registry, spec));
  for (const series of seriesKnownOf(spec)) metric.labels(...series).inc(0);
  return { increment: (labels = [], by = 1) => metric.labels(...labels).inc(by) };
}

function gaugeOn(registry: prom.Registry, spec: MetricOptions): Gauge {
  const metric = new prom.Gauge(configOf(registry, spec));
  for (const series of seriesKnownOf(spec)) metric.labels(...series).set(0);
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
  for (const series of seriesKnownOf(spec)) begin(series);
  return { begin, observe: (value, labels = []) => metric.labels(...labels).observe(value) };
}
