import { HomeostatError } from '../util/homeostat-error.ts';

/**
 * What a request failed with, in the words the engine decides by:
 * - `not-found` 404 of an object; `kind-missing`: the path of the kind itself is not served
 * - `already-exists` 409 of a create; `conflict` 409 else (field manager conflict, precondition); `field-conflict` 409 with FieldManagerConflict causes
 * - `uid-mismatch` 409 or 422 about `metadata.uid`: the object is gone or was recreated
 * - `forbidden` 403 by authorization; `denied`: admission (a webhook, a policy, a plugin) refuses, with whatever status;
 *   `namespace-terminating` 403 with cause NamespaceTerminating; `quota-exceeded` 403 by quota
 * - `unauthorized` 401, `gone` 410, `too-many-requests` 429, `unavailable` 503/502/504 and connection failures with no answer before anything was sent
 * - `rejected`: 400, 422 and the 500 with which server-side apply answers a value of a wrong type or an unknown field: the same request fails again
 * - `too-large` 413, `timeout` our own deadline, `connection-lost` a broken connection after a write was sent
 * - `webhook-failed` 500: the server could not call a webhook that it has to ask
 * - `aborted` our signal, `server-error` any other 5xx, `unexpected` the rest
 */
export type KubeErrorCode =
  | 'not-found'
  | 'kind-missing'
  | 'already-exists'
  | 'conflict'
  | 'field-conflict'
  | 'uid-mismatch'
  | 'forbidden'
  | 'denied'
  | 'namespace-terminating'
  | 'quota-exceeded'
  | 'unauthorized'
  | 'gone'
  | 'too-many-requests'
  | 'unavailable'
  | 'rejected'
  | 'too-large'
  | 'timeout'
  | 'connection-lost'
  | 'aborted'
  | 'webhook-failed'
  | 'server-error'
  | 'unexpected';

/** One cause of a `Status` answer. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  /** The field it is about, as the server writes it (`.spec.replicas`, `spec.size`). */
  readonly field?: string;
  /** Who has the field, for FieldManagerConflict. */
  readonly manager?: string;
  /** The field cannot be changed in an object that exists. */
  readonly isImmutable?: boolean;
}

/** A right on a resource, as an authorizer asks for it. */
export interface AccessRight {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  readonly subresource?: string;
  /** Left out: at the cluster scope. */
  readonly namespace?: string;
  /** Of the one object that was asked for. */
  readonly name?: string;
  /** Namespace and name may be of a Secret: no message and no line of the log says them. */
  readonly isPrivate?: true;
}

export interface KubeErrorOptions {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** The `reason` of the Status body. */
  readonly reason?: string;
  readonly causes?: readonly StatusCause[];
  /** Seconds of a Retry-After header or `details.retryAfterSeconds`. */
  readonly retryAfterSeconds?: number;
  /** For `forbidden`: what is missing, where the server says so. */
  readonly right?: AccessRight;
  readonly cause?: unknown;
}

/** Without an answer, these. */
const silences: ReadonlySet<KubeErrorCode> = new Set(['unavailable', 'timeout', 'connection-lost']);

/** A failed request. Only `kube/errors.ts` looks inside Status bodies and transport errors; everyone else reads `code`. */
export class KubeError extends HomeostatError<KubeErrorCode> {
  readonly status: number;
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number | undefined;
  readonly right: AccessRight | undefined;

  constructor(code: KubeErrorCode, message: string, options: KubeErrorOptions) {
    super(code, message, { cause: options.cause });
    this.status = options.status;
    this.reason = options.reason;
    this.causes = options.causes ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.right = options.right;
  }

  /** The same request fails again until the intent, the rights or the kind change (definition.md section 6). */
  get isPermanent(): boolean {
    return (
      this.code === 'rejected' ||
      this.code === 'too-large' ||
      ((this.code === 'forbidden' || this.code === 'denied') &&
        this.retryAfterSeconds === undefined)
    );
  }

  /** There is no server, or it lets nobody in: the request itself is not to blame. */
  override get isSilence(): boolean {
    // A 503 is an answer.
    return this.code === 'unauthorized' || (this.status === 0 && silences.has(this.code));
  }

  /** Fields that the server does not let change in an object that exists: only a new object can have the wanted value. */
  get immutableFields(): readonly string[] {
    if (this.code !== 'rejected') return [];
    return this.causes.flatMap(({ field, isImmutable }) =>
      isImmutable === true && field !== undefined ? [field] : [],
    );
  }
}
