/** Base class of runtime errors with a searchable `code` and a `cause`. */
export class HomeostatError<Code extends string = string> extends Error {
  readonly code: Code;
  constructor(code: Code, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }

  /** The server was unreachable. The operation itself did not fail; retry it when the server responds again. */
  get isUnreachable(): boolean {
    return false;
  }
}

/** A failure that no retry can fix. The controller counts and logs it and does not requeue. */
export class TerminalError extends HomeostatError<'terminal'> {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super('terminal', message, options);
  }
}

/**
 * Log fields of an error. Expected failures (a rejected request, an unreachable server) are logged with code and
 * message. Only possible bugs are logged with a stack trace.
 */
export function errorLogFields(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof HomeostatError)) return { err: error };
  const { code, message, cause } = error;
  return { code, reason: message, ...(cause instanceof Error ? { cause: cause.message } : {}) };
}

/** Asserts a condition that only a bug can violate. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}

/** Closes an exhaustive switch over a discriminated union. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value "${JSON.stringify(value)}"`);
}

/** The message of what was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
