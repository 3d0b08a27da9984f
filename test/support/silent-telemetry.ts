import { createLogger, createMetricRegistry, type Logger } from '../../src/telemetry/index.ts';

/** A logger that writes nothing. */
export function silentLogger(): Logger {
  return createLogger({ level: 'silent' });
}

/** A registry of its own, so that tests share no series. */
export function freshMetrics() {
  return createMetricRegistry();
}
