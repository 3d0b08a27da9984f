import type { ApiClient, ApiRequest } from '../../kube/index.ts';
import { KubeError } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { type LeaseRecord, leaseGvk, specOf } from './lease-record.ts';

export interface LeaseClientOptions {
  readonly api: Pick<ApiClient, 'request'>;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** For a whole request, what it waits for before it is sent included. */
  readonly timeoutMs: number;
}

/** The requests of leader election: on a connection of their own, never queued, never sent again. */
export interface LeaseClient {
  readonly namespace: string;
  readonly name: string;
  /** Undefined: there is none. @throws KubeError */
  get(signal: AbortSignal): Promise<KubeObject | undefined>;
  /** @throws KubeError `already-exists` when somebody was faster */
  create(record: LeaseRecord, signal: AbortSignal): Promise<KubeObject>;
  /** Replaces what `before` says, if it is still so. @throws KubeError `conflict`, `not-found` when it is not */
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
    const late = new AbortController();
    const cancel = clock.after(timeoutMs, () => late.abort(new Error('The Lease took too long')));
    const onAbort = () => late.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const { body } = await api.request(
        {
          ...request,
          timeoutMs,
          lane: 'lease',
          flow: { name: 'leader-election', priority: 'world' },
        },
        late.signal,
      );
      return body as KubeObject;
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    namespace,
    name,
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
