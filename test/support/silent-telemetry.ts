import { createLogger, createMetricRegistry, type Logger } from '#telemetry';

/** A logger that writes nothing. */
export function silentLogger(): Logger {
  return createLogger({ level: 'silent' });
}

/** A registry of its own, so that tests share no series. */
export function freshMetrics() {
  return createMetricRegistry();
}
