/** Least urgent lines that a logger writes. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];
