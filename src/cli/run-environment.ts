import { createLogger, type Logger, type LogLevel } from '../telemetry/index.ts';
import { type Clock, createSystemClock } from '../util/clock.ts';
import { createSystemRandom, type Random } from '../util/random.ts';
import { exitCode } from './exit-code.ts';
import { limitHeapGrowth } from './heap-settings.ts';

/** The parts of the process that `homeostat run` uses. Tests pass their own. */
export interface RunEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  createLogger(level: LogLevel): Logger;
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
    exitNow: () => process.exit(exitCode.failure),
    limitHeapGrowth: () => limitHeapGrowth(process),
  };
}
