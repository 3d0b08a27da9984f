import * as prom from 'prom-client';
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
  /** Adds `process_*` and `nodejs_*` (memory, CPU, event-loop delay). @default false */
  readonly processMetrics?: boolean;
}

/** Metrics on prom-client, which has no door but this one. */
export function createMetricRegistry(options: MetricRegistryOptions = {}): ReadableMetricRegistry {
  const registry = new prom.Registry();
  if (options.processMetrics) prom.collectDefaultMetrics({ register: registry });
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
  };
}

function configOf(registry: prom.Registry, { name, help, labels = [] }: MetricOptions) {
  return { name, help, labelNames: [...labels], registers: [registry] };
}

function counterOn(registry: prom.Registry, spec: MetricOptions): Counter {
  const metric = new prom.Counter(configOf(registry, spec));
  return { increment: (labels = [], by = 1) => metric.labels(...labels).inc(by) };
}

function gaugeOn(registry: prom.Registry, spec: MetricOptions): Gauge {
  const metric = new prom.Gauge(configOf(registry, spec));
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
  return { observe: (value, labels = []) => metric.labels(...labels).observe(value) };
}
