import { createLogger, type Logger, type LogLevel } from '../telemetry/index.ts';
import { type Clock, createSystemClock } from '../util/clock.ts';
import { createSystemRandom, type Random } from '../util/random.ts';
import { exitCode } from './exit-code.ts';

/** What `homeostat run` takes from the process it runs in. Tests that run it in their own process pass their own. */
export interface RunEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  createLogger(level: LogLevel): Logger;
  /** Ends the process at once, because it has lost its leadership: nothing that is under way is waited for. */
  exitNow(): void;
}

/** The real process. */
export function processEnvironment(): RunEnvironment {
  return {
    clock: createSystemClock(),
    random: createSystemRandom(),
    createLogger: (level) => createLogger({ level }),
    exitNow: () => process.exit(exitCode.failure),
  };
}
