import type { ProxyEnvironment } from '#kube';
import { createLogger, type Logger, type LogLevel } from '#telemetry';
import { type Clock, createSystemClock } from '#util/clock.ts';
import { createSystemRandom, type Random } from '#util/random.ts';
import { exitCode } from './exit-code.ts';
import { limitHeapGrowth } from './heap-settings.ts';

/** The parts of the process that `homeostat run` uses. Tests pass their own. */
export interface RunEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  createLogger(level: LogLevel): Logger;
  /** Variables that name a proxy. @default none */
  readonly variables?: ProxyEnvironment;
  /** Ends the process at once after it has lost its leadership, without waiting for running requests. */
  exitNow(): void;
  /** Called when all modules are loaded. */
  limitHeapGrowth(): void;
}

/** The real process. */
export function processEnvironment(): RunEnvironment {
  return {
    clock: createSystemClock(),
    random: createSystemRandom(),
    createLogger: (level) => createLogger({ level }),
    variables: process.env,
    exitNow: () => process.exit(exitCode.failure),
    limitHeapGrowth: () => limitHeapGrowth(process),
  };
}
