import { readFileSync } from 'node:fs';
import { ConsoleService, type ReconcileRecords } from '#console';
import { startConsoleServer } from '#console/node/index.ts';
import { parseYaml } from '#definition';
import { createClusterOn } from '#kube';
import { SandboxClient } from '#simulation/sandbox-client.ts';
import { silentLogger, silentMetrics } from '#telemetry';
import { createSystemClock } from '#util/clock.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { BackendError, type ConsoleBackend, type WatchEvent } from '#web';
import { createTestSandbox } from '../../support/backends/index.ts';

/** A console of a cluster in this process, without a runtime: the test writes all objects. */
export interface ServedCluster {
  readonly url: string;
  /** Creates or changes an object, with its status. */
  apply(object: KubeObject, plural: string): Promise<void>;
  /** All watches break, and none can be opened until {@link restoreWatches}. */
  breakWatches(): void;
  restoreWatches(): void;
  /** All watches end with status 410: the server no longer has the version from which they resume. */
  expireWatches(): void;
  /** Requests for paths end with a status from now on. */
  rejectLists(pattern: RegExp, status: number): void;
  /** Requests for paths wait until the returned function is called. */
  holdLists(pattern: RegExp): () => void;
  /** Questions about a definition, an explanation or a preview fail from now on. */
  failQuestions(): void;
  /** An object as it is now. @throws KubeError */
  get(path: string): Promise<KubeObject>;
  /** Number of requests for collections so far: lists, then watches. */
  readonly requests: { readonly lists: number; readonly watches: number };
  close(): Promise<void>;
}

export interface ServedClusterOptions {
  /** @default true */
  readonly canEdit?: boolean;
  /** @default none */
  readonly records?: ReconcileRecords;
}

const flow = { name: 'test', priority: 'object' } as const;
const { signal } = new AbortController();

export async function serveCluster({
  canEdit = true,
  records,
}: ServedClusterOptions = {}): Promise<ServedCluster> {
  const sandbox = createTestSandbox({ controllers: false });
  const client = new SandboxClient({ sandbox, userAgent: 'kubectl' });
  const clock = createSystemClock();
  const random = createSystemRandom();
  const cluster = createClusterOn(client, {
    clock,
    random,
    logger: silentLogger,
    metrics: silentMetrics,
  });
  const service = new ConsoleService({
    cluster,
    clock,
    random,
    logger: silentLogger,
    info: { home: 'console', version: '1.2.3', cluster: 'test', canEdit },
    ...(records && { records }),
  });
  const requests = { lists: 0, watches: 0 };
  let held: { readonly pattern: RegExp; readonly released: Promise<void> } | undefined;
  let areQuestionsFailing = false;
  let broken = Promise.withResolvers<never>();
  let isBroken = false;
  let rejected: { readonly pattern: RegExp; readonly status: number } | undefined;
  async function* watch(
    ...[request, abort]: Parameters<ConsoleBackend['watch']>
  ): AsyncGenerator<WatchEvent, void, undefined> {
    requests.watches += 1;
    if (isBroken) throw new BackendError('unreachable', 'The test broke the stream');
    const events = service.watch(request, abort)[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([events.next(), broken.promise]);
      if (next.done === true) return;
      yield next.value;
    }
  }
  const backend = new Proxy(service as ConsoleBackend, {
    get(target, name) {
      if (name === 'watch') return watch;
      if (name === 'request')
        return async (...[request, abort]: Parameters<ConsoleBackend['request']>) => {
          if (request.query?.limit !== undefined) requests.lists += 1;
          if (held?.pattern.test(request.path) === true) await held.released;
          return rejected?.pattern.test(request.path) === true
            ? { status: rejected.status, body: { message: 'The test rejects it' } }
            : service.request(request, abort);
        };
      if (areQuestionsFailing && /^(?:definition|explain|preview|evaluate)$/.test(String(name)))
        return () => Promise.reject(new BackendError('failed', 'The test fails the question'));
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const server = await startConsoleServer({ backend, clock, random });
  const send = (path: string, body: unknown) =>
    client.request(
      {
        method: 'PATCH',
        path,
        body,
        flow,
        query: { fieldManager: 'kubectl', force: 'true' },
        contentType: 'application/apply-patch+yaml',
      },
      signal,
    );
  const crd = parseYaml(
    readFileSync('deploy/crds/operatordefinitions.homeostat.dev.yaml', 'utf8'),
  ) as KubeObject;
  await send(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`, crd);
  return {
    url: server.url,
    async apply(object, plural) {
      const { apiVersion, metadata } = object;
      const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
      const path = `${root}${scope}/${plural}/${metadata.name}`;
      await send(path, object);
      if (object.status !== undefined) await send(`${path}/status`, object);
    },
    breakWatches() {
      isBroken = true;
      broken.promise.catch(() => undefined);
      broken.reject(new BackendError('unreachable', 'The test broke the stream'));
    },
    restoreWatches() {
      broken = Promise.withResolvers<never>();
      isBroken = false;
    },
    expireWatches() {
      const last = broken;
      broken = Promise.withResolvers<never>();
      last.promise.catch(() => undefined);
      last.reject(new BackendError('gone', 'The version is too old'));
    },
    holdLists(pattern) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = { pattern, released: promise };
      return () => {
        held = undefined;
        resolve();
      };
    },
    failQuestions() {
      areQuestionsFailing = true;
    },
    async get(path) {
      return (await client.request({ method: 'GET', path, flow }, signal)).body as KubeObject;
    },
    requests,
    rejectLists(pattern, status) {
      rejected = { pattern, status };
    },
    async close() {
      await server.close();
      await cluster.close();
      sandbox.stop();
    },
  };
}

/** The CRD of a kind `Thing` without a schema. */
export const thingCrd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Thing', plural: 'things' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
};

/** The definition of `Thing`, as its runtime reports it. */
export function thingDefinition(status: object = {}): KubeObject {
  return {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorDefinition',
    metadata: { name: 'thing' },
    spec: {
      crd: {
        group: 'example.com',
        names: { kind: 'Thing', plural: 'things' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object' } } }],
      },
      children: [],
    },
    status: {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      revision: 'abcdef0123',
      conditions: [
        condition('Ready', 'True', 'Running'),
        condition('Accepted', 'True', 'Accepted'),
      ],
      ...status,
    },
  };
}

export function thing(
  name: string,
  isReady: boolean,
  message = '',
  namespace = 'default',
): KubeObject {
  const reason = isReady ? 'AllReady' : 'Progressing';
  return {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name, namespace },
    spec: { size: 1 },
    status: { conditions: [condition('Ready', isReady ? 'True' : 'False', reason, message)] },
  };
}

export function condition(type: string, status: string, reason: string, message = '') {
  return {
    type,
    status,
    reason,
    message,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 1,
  };
}
