/** Minimum level of the written lines. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Apart from the logger: the flags of commands name them, and most commands log nothing. */
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];
