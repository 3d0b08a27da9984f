export { type LogLevel, logLevels } from './log-level.ts';
export { createLogger, type LoggerOptions } from './logger.ts';
export { type MetricSpec, metricCatalogue, seriesOf } from './metric-catalogue.ts';
export {
  createMetricRegistry,
  type MetricRegistryOptions,
  type ReadableMetricRegistry,
} from './metric-registry.ts';
export type {
  Counter,
  Gauge,
  Histogram,
  LabelValues,
  LogFields,
  Logger,
  LogMessage,
  MetricOptions,
  MetricRegistry,
} from './roles.ts';
export { silentMetrics } from './silent-metrics.ts';
