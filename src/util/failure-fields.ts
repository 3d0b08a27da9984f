import { HomeostatError } from './homeostat-error.ts';

/**
 * Log fields of a failure. What the world did (a refused request, no server) is told by code and message; only what may be
 * our own bug is worth a stack trace.
 */
export function failureFields(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof HomeostatError)) return { err: error };
  const { code, message, cause } = error;
  return { code, reason: message, ...(cause instanceof Error ? { cause: cause.message } : {}) };
}
