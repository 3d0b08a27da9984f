import type { ApiClient, ApiRequest } from '../../kube/index.ts';
import { KubeError } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { type LeaseRecord, leaseGvk, specOf } from './lease-record.ts';

interface LeaseClientOptions {
  readonly api: Pick<ApiClient, 'request'>;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** Timeout of a whole request, including the time before it is sent. */
  readonly timeoutMs: number;
}

/** Requests for the Lease: on their own connection, never queued, never retried. */
export interface LeaseClient {
  /** Undefined: the Lease does not exist. @throws KubeError */
  get(signal: AbortSignal): Promise<KubeObject | undefined>;
  /** @throws KubeError `already-exists` if another process created it first */
  create(record: LeaseRecord, signal: AbortSignal): Promise<KubeObject>;
  /** Replaces the Lease if it is unchanged. @throws KubeError `conflict` or `not-found` if it has changed */
  update(before: KubeObject, record: LeaseRecord, signal: AbortSignal): Promise<KubeObject>;
}

export function createLeaseClient(options: LeaseClientOptions): LeaseClient {
  const { api, clock, namespace, name, timeoutMs } = options;
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const path = `${collection}/${encodeURIComponent(name)}`;

  async function send(
    request: Pick<ApiRequest, 'method' | 'path' | 'body'>,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const timeout = new AbortController();
    const cancel = clock.after(timeoutMs, () =>
      timeout.abort(new Error('The Lease request timed out')),
    );
    try {
      const { body } = await api.request(
        {
          ...request,
          timeoutMs,
          lane: 'lease',
          flow: { name: 'leader-election', priority: 'object' },
        },
        AbortSignal.any([signal, timeout.signal]),
      );
      return body as KubeObject;
    } finally {
      cancel();
    }
  }

  return {
    async get(signal) {
      try {
        return await send({ method: 'GET', path }, signal);
      } catch (error) {
        if (error instanceof KubeError && error.code === 'not-found') return undefined;
        throw error;
      }
    },
    create(record, signal) {
      const metadata = { namespace, name };
      const apiVersion = apiVersionOf(leaseGvk);
      const body = { apiVersion, kind: leaseGvk.kind, metadata, spec: specOf(record) };
      return send({ method: 'POST', path: collection, body }, signal);
    },
    update(before, record, signal) {
      const body = {
        apiVersion: apiVersionOf(leaseGvk),
        kind: leaseGvk.kind,
        metadata: before.metadata,
        spec: { ...specOf(record) },
      };
      return send({ method: 'PUT', path, body }, signal);
    },
  };
}
