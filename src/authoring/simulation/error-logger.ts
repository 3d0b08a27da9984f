import type { LogFields, Logger } from '#telemetry';
import { messageOf } from '#util/homeostat-error.ts';

/** A logger that reports only errors, as text. */
export function errorLogger(onError: (line: string) => void): Logger {
  const nothing = () => undefined;
  const logger: Logger = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (fields: LogFields, message: string) =>
      onError(`${message}: ${messageOf((fields as { readonly err?: unknown }).err)}`),
    child: () => logger,
  };
  return logger;
}
