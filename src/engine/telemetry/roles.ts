import type { LogMessage } from './log-messages.ts';

/** Interfaces of logging and metrics, and the metric catalogue. The implementations (pino, prom-client) are passed in. */
export type { LogMessage } from './log-messages.ts';
export { type MetricSpec, metricCatalogue, seriesOf } from './metric-catalogue.ts';

/** Minimum level of the written lines. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Apart from the logger: the flags of commands name them, and most commands log nothing. */
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** A structured logger: fields first, then a message of the catalogue. */
export interface Logger {
  debug(fields: LogFields, message: LogMessage): void;
  info(fields: LogFields, message: LogMessage): void;
  warn(fields: LogFields, message: LogMessage): void;
  error(fields: LogFields, message: LogMessage): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

/** Errors are logged as `err`, times as `durationMs`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Label values of one series, in the order of the metric's label names. */
export type LabelValues = readonly string[];

export interface Counter {
  increment(labels?: LabelValues, by?: number): void;
}

export interface Gauge {
  set(value: number, labels?: LabelValues): void;
  add(delta: number, labels?: LabelValues): void;
  /** Removes one series, for example of a deleted definition. */
  remove(labels: LabelValues): void;
}

export interface Histogram {
  /** In the metric's unit: seconds. */
  observe(value: number, labels?: LabelValues): void;
  /** Exposes the series with a count of 0 before the first observation. */
  initialize(labels: LabelValues): void;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** All possible values by label. If every label has them, all series are initialized to 0. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
}

/** Creates metrics from catalogue entries. Repeated calls with one name return the same metric. */
export interface MetricRegistry {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: MetricOptions & { readonly bucketsSeconds?: readonly number[] }): Histogram;
  /** Removes the series of all metrics with this label value, for example of a deleted definition. */
  removeSeries(label: string, value: string): Promise<void>;
}

const nothing = () => undefined;

/** Drops every line. */
export const silentLogger: Logger = Object.freeze({
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
});

/** A registry that measures nothing, for work that no server reports: it loads no metrics library. */
export const silentMetrics: MetricRegistry = Object.freeze({
  counter: () => ({ increment: nothing }),
  gauge: () => ({ set: nothing, add: nothing, remove: nothing }),
  histogram: () => ({ observe: nothing, initialize: nothing }),
  removeSeries: async () => undefined,
});
