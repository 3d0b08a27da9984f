import { type DestinationStream, pino } from 'pino';
import { printable } from '#util/printable-text.ts';
import type { Logger, LogLevel } from './roles.ts';

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Destination of log lines. @default standard output, see {@link createStdoutDestination} */
  readonly destination?: DestinationStream;
}

/** Creates a logger: JSON lines, level as a word, ISO time, errors as `err`. */
export function createLogger({ level, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, printableLines(destination ?? createStdoutDestination()));
}

/** JSON leaves C1 and bidi characters as they are; a log is read in a terminal, too. */
function printableLines(destination: DestinationStream): DestinationStream {
  return { write: (line) => destination.write(printable(line)) };
}

/**
 * Standard output with buffering: unbuffered lines of a thousand reconciles take a tenth of the CPU. Pending lines
 * are flushed at exit, also after an uncaught error. Only SIGKILL loses them.
 */
function createStdoutDestination(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 200 });
}
