export { createLogger, type LoggerOptions } from './logger.ts';
export { type MetricSpec, metricCatalogue, seriesOf } from './metric-catalogue.ts';
export {
  createMetricRegistry,
  type MetricRegistryOptions,
  type ReadableMetricRegistry,
} from './metric-registry.ts';
export {
  type Counter,
  type Gauge,
  type Histogram,
  type LabelValues,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogMessage,
  logLevels,
  type MetricOptions,
  type MetricRegistry,
  silentLogger,
  silentMetrics,
} from './roles.ts';
