import { HomeostatError } from '../../util/homeostat-error.ts';
import type { JsonObject } from '../../util/json.ts';

/** One cause of a refusal, as `details.causes` carries it. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural of the resource; the kind for `Invalid`. */
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
  /** Where a list may be gone on with. */
  readonly continueToken?: string;
  /** @default [] */
  readonly warnings?: readonly string[];
  readonly cause?: unknown;
}

/** A request that is refused: an HTTP status with the `Status` body of the API. */
export class StatusError extends HomeostatError<'refused'> {
  /** HTTP status. */
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  /** What is said beside the refusal. */
  readonly warnings: readonly string[];
  readonly #options: StatusOptions;
  constructor(options: StatusOptions) {
    const { code, message, reason, details, warnings = [], cause } = options;
    super('refused', message, { cause });
    this.#options = options;
    this.status = code;
    this.reason = reason;
    this.details = details;
    this.warnings = warnings;
  }

  /** The same refusal, with something said before what is said beside it already. */
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
