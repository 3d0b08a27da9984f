import type { ApiClient, ApiRequest } from '#kube';
import { KubeError } from '#kube/roles.ts';
import { anySignal } from '#util/any-signal.ts';
import type { Clock } from '#util/clock.ts';
import { apiVersionOf } from '#util/gvk.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';

interface LeaseClientOptions {
  readonly api: Pick<ApiClient, 'request'>;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** Timeout of a whole request, including the time before it is sent. */
  readonly timeoutMs: number;
}

/** Requests for the Lease: on their own connection, never queued, never retried. */
export class LeaseClient {
  readonly #options: LeaseClientOptions;
  readonly #collection: string;
  readonly #path: string;

  constructor(options: LeaseClientOptions) {
    const { namespace, name } = options;
    this.#options = options;
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
    this.#path = `${this.#collection}/${encodeURIComponent(name)}`;
  }

  /** Undefined: the Lease does not exist. @throws KubeError */
  async get(signal: AbortSignal): Promise<KubeObject | undefined> {
    try {
      return await this.#send({ method: 'GET', path: this.#path }, signal);
    } catch (error) {
      if (error instanceof KubeError && error.code === 'not-found') return undefined;
      throw error;
    }
  }

  /** @throws KubeError `already-exists` if another process created it first */
  create(record: LeaseRecord, signal: AbortSignal): Promise<KubeObject> {
    const { namespace, name } = this.#options;
    const body = leaseOf({ namespace, name }, record);
    return this.#send({ method: 'POST', path: this.#collection, body }, signal);
  }

  /** Replaces the Lease if it is unchanged. @throws KubeError `conflict` or `not-found` if it has changed */
  update(before: KubeObject, record: LeaseRecord, signal: AbortSignal): Promise<KubeObject> {
    const body = leaseOf(before.metadata, record);
    return this.#send({ method: 'PUT', path: this.#path, body }, signal);
  }

  async #send(
    request: Pick<ApiRequest, 'method' | 'path' | 'body'>,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const { api, clock, timeoutMs } = this.#options;
    const timeout = new AbortController();
    const cancel = clock.after(timeoutMs, () =>
      timeout.abort(new Error('The Lease request timed out')),
    );
    try {
      const flow = { name: 'leader-election', priority: 'object' } as const;
      const { body } = await api.request(
        { ...request, timeoutMs, lane: 'lease', flow },
        anySignal([signal, timeout.signal]),
      );
      return body as KubeObject;
    } finally {
      cancel();
    }
  }
}

function leaseOf(metadata: KubeObject['metadata'], record: LeaseRecord): KubeObject {
  return {
    apiVersion: apiVersionOf(leaseGvk),
    kind: leaseGvk.kind,
    metadata,
    spec: specOf(record),
  };
}

export const leaseGvk = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' } as const;

/** Contents of a Lease, as client-go interprets them. */
export interface LeaseRecord {
  /** Empty: not held. */
  readonly holder: string;
  readonly durationSeconds: number;
  /** RFC 3339 with microseconds, by the writer's clock: informative, never compared. */
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly transitions: number;
}

/** Missing or invalid fields are read as in a Lease that is not held. */
export function recordOf({ spec }: KubeObject): LeaseRecord {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } =
    (spec ?? {}) as Readonly<Record<string, unknown>>;
  return {
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    durationSeconds: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0,
    ...(typeof acquireTime === 'string' && { acquireTime }),
    ...(typeof renewTime === 'string' && { renewTime }),
    transitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
  };
}

/** Converts a record to a `spec`. */
export function specOf(record: LeaseRecord): Readonly<Record<string, unknown>> {
  const { holder, durationSeconds, acquireTime, renewTime, transitions } = record;
  return {
    ...(holder !== '' && { holderIdentity: holder }),
    leaseDurationSeconds: durationSeconds,
    ...(acquireTime !== undefined && { acquireTime }),
    ...(renewTime !== undefined && { renewTime }),
    leaseTransitions: transitions,
  };
}

/** Formats a `MicroTime`: RFC 3339 with microseconds. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

interface LeaseTimes {
  /** How long followers wait for a renewal before they take over, in ms. @default 15_000 */
  readonly leaseDurationMs?: number;
  /** How long a leader may write without a renewal, in ms. @default 10_000 */
  readonly renewDeadlineMs?: number;
  /** Interval of renewals and of attempts to acquire, in ms. @default 2_000 */
  readonly retryPeriodMs?: number;
}

export type ResolvedLeaseTimes = Required<LeaseTimes>;

/** Maximum jitter of the retry period, so that followers do not retry at the same time. */
export const jitterFactor = 1.2;

/**
 * Fills in defaults.
 * @throws HomeostatError `invalid-times`: these times would allow two writers, or a leader would give up too early.
 */
export function resolveLeaseTimes(times: LeaseTimes = {}): ResolvedLeaseTimes {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = times;
  if (retryPeriodMs <= 0)
    throw invalid(`Expected a retry period above 0, found "${seconds(retryPeriodMs)}"`);
  if (renewDeadlineMs <= jitterFactor * retryPeriodMs)
    throw invalid(
      `Expected a renew deadline above ${jitterFactor} times the retry period "${seconds(retryPeriodMs)}", found "${seconds(renewDeadlineMs)}"`,
    );
  if (leaseDurationMs <= renewDeadlineMs)
    throw invalid(
      `Expected a lease duration above the renew deadline "${seconds(renewDeadlineMs)}", found "${seconds(leaseDurationMs)}"`,
    );
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

function seconds(ms: number): string {
  return `${ms / 1_000}s`;
}

function invalid(message: string): HomeostatError {
  return new HomeostatError('invalid-times', message);
}
