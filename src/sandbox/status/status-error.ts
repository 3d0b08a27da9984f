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
  readonly cause?: unknown;
}

/** A request that is refused: an HTTP status with the `Status` body of the API. */
export class StatusError extends HomeostatError<'refused'> {
  /** HTTP status. */
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  readonly #continueToken: string | undefined;
  constructor({ code, message, reason, details, continueToken, cause }: StatusOptions) {
    super('refused', message, { cause });
    this.status = code;
    this.reason = reason;
    this.details = details;
    this.#continueToken = continueToken;
  }

  /** The answer's body. */
  body(): JsonObject {
    const { message, reason, details, status: code } = this;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.#continueToken === undefined ? {} : { continue: this.#continueToken },
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details: details as unknown as JsonObject }),
      code,
    };
  }
}
