/**
 * What the rooms above need of logging and metrics. Interfaces only: the implementations (pino, prom-client) are passed in.
 */

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
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** Makes metrics. A name may be asked for twice and gives the same metric. */
export interface MetricRegistry {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: MetricOptions & { readonly bucketsSeconds?: readonly number[] }): Histogram;
}
