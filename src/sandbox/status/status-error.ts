import { HomeostatError } from '#util/homeostat-error.ts';
import type { JsonObject } from '#util/json.ts';

/** One cause of an error, as in `details.causes`. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural of the resource; for `Invalid`, the kind. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusOptions {
  readonly code: number;
  readonly message: string;
  /** Empty = none. */
  readonly reason: string;
  readonly details?: StatusDetails;
  /** Continues the list. */
  readonly continueToken?: string;
  /** @default [] */
  readonly warnings?: readonly string[];
  readonly cause?: unknown;
}

/** A rejected request: an HTTP status with the `Status` body of the API. */
export class StatusError extends HomeostatError<'rejected'> {
  /** HTTP status. */
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  /** Warnings in addition to the error. */
  readonly warnings: readonly string[];
  readonly #options: StatusOptions;
  constructor(options: StatusOptions) {
    const { code, message, reason, details, warnings = [], cause } = options;
    super('rejected', message, { cause });
    this.#options = options;
    this.status = code;
    this.reason = reason;
    this.details = details;
    this.warnings = warnings;
  }

  /** The same error with these warnings before its own. */
  withWarnings(warnings: readonly string[]): StatusError {
    if (warnings.length === 0) return this;
    return new StatusError({ ...this.#options, warnings: [...warnings, ...this.warnings] });
  }

  /** The answer's body. */
  body(): JsonObject {
    const { message, reason, details, status: code } = this;
    const { continueToken } = this.#options;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: continueToken === undefined ? {} : { continue: continueToken },
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details: details as unknown as JsonObject }),
      code,
    };
  }
}

/** A path that is not part of the API: answered in plain text, not with a Status. */
export class PageNotFound extends HomeostatError<'page-not-found'> {
  constructor() {
    super('page-not-found', '404 page not found');
  }
}
