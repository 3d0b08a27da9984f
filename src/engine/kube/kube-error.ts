import type { Gvk } from '#util/gvk.ts';
import { HomeostatError } from '#util/homeostat-error.ts';

/**
 * Cause of a failed request:
 * - `not-found`: 404 of an object; `kind-missing`: the path of the kind itself is not served
 * - `already-exists`: 409 of a create; `field-conflict`: 409 with FieldManagerConflict causes; `conflict`: any other
 *   409
 * - `uid-mismatch`: 409 or 422 about `metadata.uid`: the object was deleted or recreated
 * - `forbidden`: 403 by authorization; `denied`: rejected by admission (webhook, policy, plugin), with any status
 * - `namespace-terminating`: 403 with cause NamespaceTerminating; `quota-exceeded`: 403 by a quota
 * - `unauthorized`: 401; `gone`: 410; `too-many-requests`: 429
 * - `unavailable`: 503, 502, 504, the 403 of a server that has just started, and connection failures before anything was sent
 * - `rejected`: 400, 422, and the 500 by which server-side apply reports a wrong type or an unknown field. The same
 *   request fails again.
 * - `too-large`: 413, or a response beyond our own limit; `timeout`: our own deadline; `connection-lost`: the connection broke after a write was sent
 * - `webhook-failed`: 500, the server could not call an admission webhook, or a conversion webhook failed
 * - `cluster-unreachable`: the cluster of the object cannot be used now
 * - `aborted`: our signal; `server-error`: any other 5xx; `unexpected`: the rest
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
  | 'cluster-unreachable'
  | 'server-error'
  | 'unexpected';

/** One cause of a `Status` response. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  /** The field, as written by the server (`.spec.replicas`, `spec.size`). */
  readonly field?: string;
  /** For FieldManagerConflict: the manager that owns the field. */
  readonly manager?: string;
  /** The field is immutable in existing objects. */
  readonly isImmutable?: boolean;
  /** For an immutable field: the message without the value and without the difference that some kinds append. */
  readonly detail?: string;
}

/** The object that a 404 names. */
export interface NotFoundObject {
  /** Empty for the core group. */
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  readonly name: string;
}

/** Another object that a write needs, and that does not exist: its namespace, the Role of a RoleBinding. */
export interface MissingObject extends NotFoundObject {
  /** Undefined: the cluster serves no such kind. */
  readonly gvk?: Gvk;
  /** Omitted: it is cluster-scoped. */
  readonly namespace?: string;
}

/** A right on a resource, as in a SubjectAccessReview. */
export interface AccessRight {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  readonly subresource?: string;
  /** Omitted: cluster scope. */
  readonly namespace?: string;
  /** Name of the object, for a right on a single object. */
  readonly name?: string;
  /** Namespace and name may belong to a Secret: they must not appear in messages or logs. */
  readonly isPrivate?: true;
  /** The member cluster. Undefined: this cluster. */
  readonly cluster?: string;
}

interface KubeErrorOptions {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** The `reason` of the Status body. */
  readonly reason?: string;
  readonly causes?: readonly StatusCause[];
  /** Seconds of a Retry-After header or `details.retryAfterSeconds`. */
  readonly retryAfterSeconds?: number;
  /** The certificate of the server is not trusted. */
  readonly isUntrusted?: boolean;
  /** The server may not be connected to. */
  readonly isServerNotAllowed?: boolean;
  /** For `forbidden`: the missing right, if the server names it. */
  readonly right?: AccessRight;
  /** For `not-found`: what the server names. */
  readonly notFound?: NotFoundObject;
  /** For `not-found`: what a write needs besides its own object. */
  readonly missing?: MissingObject;
  /** For `denied` by an admission plugin, and for a grant beyond our own rights: why, without the name of the object. */
  readonly denial?: string;
  /** For `webhook-failed`: see {@link KubeError.isConversion}. */
  readonly isConversion?: boolean;
  /** For `server-error`: see {@link KubeError.unknownFieldVersion}. */
  readonly unknownFieldVersion?: string;
  readonly cause?: unknown;
}

/** Codes of failures without a response. */
const unreachableCodes: ReadonlySet<KubeErrorCode> = new Set([
  'unavailable',
  'timeout',
  'connection-lost',
]);

/** A failed request. Only `kube/errors.ts` parses Status bodies and transport errors; other code reads `code`. */
export class KubeError extends HomeostatError<KubeErrorCode> {
  readonly status: number;
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number | undefined;
  readonly right: AccessRight | undefined;
  readonly notFound: NotFoundObject | undefined;
  readonly missing: MissingObject | undefined;
  readonly denial: string | undefined;
  /**
   * An apply failed because `managedFields` of the object name this API version, which its kind does not have (any more). Every apply to the
   * object fails until the entry is renamed.
   */
  readonly unknownFieldVersion: string | undefined;
  /** The certificate of the server is not trusted. */
  readonly isUntrusted: boolean;
  /** The server may not be connected to. */
  readonly isServerNotAllowed: boolean;
  /** A conversion webhook failed, not an admission webhook. */
  readonly isConversion: boolean;

  constructor(code: KubeErrorCode, message: string, options: KubeErrorOptions) {
    super(code, message, { cause: options.cause });
    this.status = options.status;
    this.reason = options.reason;
    this.causes = options.causes ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.right = options.right;
    this.notFound = options.notFound;
    this.missing = options.missing;
    this.denial = options.denial;
    this.unknownFieldVersion = options.unknownFieldVersion;
    this.isUntrusted = options.isUntrusted === true;
    this.isServerNotAllowed = options.isServerNotAllowed === true;
    this.isConversion = options.isConversion === true;
  }

  /** The same error with more details. */
  with(details: Pick<KubeErrorOptions, 'right' | 'missing'>): KubeError {
    const { code, message, status, reason, causes, retryAfterSeconds, isUntrusted } = this;
    const { isServerNotAllowed, isConversion } = this;
    const { right, notFound, missing, denial, unknownFieldVersion } = this;
    return new KubeError(code, message, {
      status,
      causes,
      isUntrusted,
      isServerNotAllowed,
      isConversion,
      cause: this,
      ...(reason !== undefined && { reason }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(right && { right }),
      ...(notFound && { notFound }),
      ...(missing && { missing }),
      ...(denial !== undefined && { denial }),
      ...(unknownFieldVersion !== undefined && { unknownFieldVersion }),
      ...details,
    });
  }

  /** The same request fails again until the manifest, the rights or the kind change (docs/definition/controller.md#failures-and-retries). */
  get isPermanent(): boolean {
    return (
      this.code === 'rejected' ||
      this.code === 'too-large' ||
      ((this.code === 'forbidden' || this.code === 'denied') &&
        this.retryAfterSeconds === undefined)
    );
  }

  /** The server does not respond or rejects our credentials. The request itself is not the cause. */
  override get isUnreachable(): boolean {
    // A 503 is a response.
    return this.code === 'unauthorized' || (this.status === 0 && unreachableCodes.has(this.code));
  }

  /** Immutable fields that the request tried to change. Only a new object can have the desired value. */
  get immutableFields(): readonly string[] {
    if (this.code !== 'rejected') return [];
    return this.causes.flatMap(({ field, isImmutable }) =>
      isImmutable === true && field !== undefined ? [field] : [],
    );
  }
}
