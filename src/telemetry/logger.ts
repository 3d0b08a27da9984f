import { type DestinationStream, pino } from 'pino';
import type { Logger } from './roles.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Where lines go. @default standard output, written synchronously: a crash must not lose its last lines */
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
  return destination === undefined ? pino(options) : pino(options, destination);
}
