import { type DestinationStream, pino } from 'pino';
import type { LogLevel } from './log-level.ts';
import type { Logger } from './roles.ts';

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Where lines go. @default standard output, see {@link createStdoutDestination} */
  readonly destination?: DestinationStream;
}

/** The only maker of loggers: JSON lines, level as a word, ISO time, errors under `err`. */
export function createLogger({ level, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, destination ?? createStdoutDestination());
}

/**
 * Standard output, several lines at a time where they come fast: written one by one, the lines of a thousand passes cost a tenth of
 * the CPU. What is pending when the process ends, also by an uncaught error, is flushed; only SIGKILL loses it.
 */
function createStdoutDestination(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 200 });
}
