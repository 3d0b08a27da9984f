/**
 * What the rooms above need of logging and metrics: interfaces, and the catalogue of metrics, which is data. The implementations
 * (pino, prom-client) are passed in.
 */
export { type MetricSpec, metricCatalogue, seriesOf } from './metric-catalogue.ts';

/** A structured logger: object first, then a constant sentence. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

/** Errors go under `err`, times under `durationMs`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Label values of one series, in the order of the metric's label names. */
export type LabelValues = readonly string[];

export interface Counter {
  increment(labels?: LabelValues, by?: number): void;
}

export interface Gauge {
  set(value: number, labels?: LabelValues): void;
  add(delta: number, labels?: LabelValues): void;
  /** Forgets one series (when the definition it belongs to goes). */
  remove(labels: LabelValues): void;
}

export interface Histogram {
  /** In the metric's unit: seconds. */
  observe(value: number, labels?: LabelValues): void;
  /** Shows the series with a count of 0, before anything is observed. */
  begin(labels: LabelValues): void;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** By label: all values that it takes. Where every label has them, all series are there, at 0, from the start. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
}

/** Makes metrics. A name may be asked for twice and gives the same metric. Specifications come from the catalogue. */
export interface MetricRegistry {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: MetricOptions & { readonly bucketsSeconds?: readonly number[] }): Histogram;
  /** Removes the series of every metric that have this value of this label: what they are about is gone. */
  forget(label: string, value: string): Promise<void>;
}
