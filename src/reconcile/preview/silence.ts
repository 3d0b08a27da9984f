import type { Logger } from '../../telemetry/roles.ts';
import type { PassMetrics } from '../pass/context.ts';

const nothing = () => undefined;

/** Says nothing. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
};

/** Counts nothing. */
export const silentMetrics: PassMetrics = { applies: { increment: nothing } };
