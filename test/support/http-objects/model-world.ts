import type { ReconcileResult } from '#controller';
import { Endpoints } from '#http-objects/controller/endpoints.ts';
import { claimOf, FarIndex } from '#http-objects/controller/far-index.ts';
import { ObjectReconciler } from '#http-objects/controller/object-reconciler.ts';
import type { HttpObjectPorts } from '#http-objects/controller/ports.ts';
import { parseRecord, recordAnnotation } from '#http-objects/core/record.ts';
import {
  type Fault,
  SimulatedApi,
  type SimulatedApiSpec,
} from '#http-objects/simulated/simulated-api.ts';
import { type HttpTransport, KubeError, type Writer } from '#kube/roles.ts';
import { backoffMs } from '#util/backoff.ts';
import { type KubeObject, keyOf, parseKey } from '#util/kube-object.ts';
import { FakeClock } from '../fake-clock.ts';
import type { SeededRandom } from '../model/seeded-random.ts';
import { MemoryCluster } from './memory-cluster.ts';
import { apiUrl, codeParser, endpointObject } from './test-objects.ts';

/** The process was killed. */
export class Killed extends Error {}

type SeededCluster = Pick<Writer, 'apply' | 'editMetadata'> & {
  /** Reads a Secret. @default as it is stored */
  readonly secret?: (namespace: string, name: string) => KubeObject | undefined;
};

/** An error that is seeded into the controller's surroundings, which the model must find. */
export interface Seeded {
  readonly transport?: (transport: HttpTransport) => HttpTransport;
  readonly cluster?: (cluster: MemoryCluster) => SeededCluster;
  readonly index?: (index: FarIndex) => FarIndex;
  /** The endpoint as the controller sees it. */
  readonly endpoint?: (endpoint: KubeObject) => KubeObject;
}

const apiSpec: SimulatedApiSpec = {
  url: apiUrl,
  collections: [
    { path: '/queues', key: 'name', idBy: 'client' },
    { path: '/records', key: 'id', idBy: 'server', envelope: 'result' },
    { path: '/tokens', key: 'id', idBy: 'server', envelope: 'result', once: { token: 's3cr3t' } },
    { path: '/unnamed', key: 'id', idBy: 'server', envelope: 'result' },
  ],
};

const parser = codeParser();

/** An API, an API server, and the controller between them, which can be killed at every await. */
export class ModelWorld {
  readonly clock = new FakeClock();
  readonly cluster = new MemoryCluster();
  readonly api: SimulatedApi;
  /** Errors that no code expects. */
  readonly bugs: string[] = [];
  /** The next faults of requests. */
  faultOf: () => Fault | undefined = () => undefined;
  readonly #random: SeededRandom;
  readonly #seeded: Seeded;
  #process: Process;
  /** By key, when the object is reconciled. */
  readonly #due = new Map<string, number>();
  readonly #failures = new Map<string, number>();

  constructor(random: SeededRandom, seededErrors: Seeded = {}) {
    this.#random = random;
    this.#seeded = seededErrors;
    this.api = new SimulatedApi({
      spec: apiSpec,
      clock: this.clock,
      faultOf: () => this.faultOf(),
    });
    this.#createEndpoint();
    this.#process = this.#start();
  }

  /** Deletes the endpoint and creates it again: another UID, so perhaps another API. */
  recreateEndpoint(): void {
    this.cluster.objects.delete('HttpEndpoint shop/api');
    this.#createEndpoint();
    for (const object of this.objects) this.enqueue(keyOfObject(object));
  }

  #createEndpoint(): void {
    this.cluster.put(endpointObject({ limits: { requestsPerSecond: 1000, concurrent: 20 } }));
  }

  get endpointUid(): string {
    return this.cluster.get('HttpEndpoint', 'shop', 'api')?.metadata.uid ?? '';
  }

  /** The API server rejects writes of Secrets for this time, in ms. */
  rejectSecrets(ms: number): void {
    const untilMs = this.clock.nowMs() + ms;
    this.cluster.rejects = ({ kind }) =>
      kind === 'Secret' && this.clock.nowMs() < untilMs
        ? new KubeError('unavailable', 'Secrets cannot be written', { status: 503 })
        : undefined;
  }

  /** Kills the process within its next effects, or now. */
  killAfter(effects: number): void {
    this.#process.effectsLeft = effects;
  }

  /** Starts another process, which knows only what is stored. */
  restart(): void {
    this.#process.effectsLeft = 0;
    this.#process.abort.abort(new Killed());
    this.#process = this.#start();
    this.#failures.clear();
    for (const object of this.objects) this.enqueue(keyOfObject(object));
  }

  get isDead(): boolean {
    return this.#process.effectsLeft === 0;
  }

  get objects(): readonly KubeObject[] {
    return this.cluster.list('HttpObject');
  }

  enqueue(key: string): void {
    this.#due.set(key, this.clock.nowMs());
  }

  /** The next time at which something is due. Undefined: never. */
  get nextDueMs(): number | undefined {
    const times = [...this.#due.values()];
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Reconciles all objects that are due, concurrently, and lets time pass until they have ended. */
  async reconcileDue(): Promise<void> {
    const nowMs = this.clock.nowMs();
    const keys = [...this.#due].filter(([, atMs]) => atMs <= nowMs).map(([key]) => key);
    const runs = keys.map((key) => {
      this.#due.delete(key);
      return this.#reconcile(key);
    });
    let isDone = false;
    const all = Promise.all(runs).then(() => {
      isDone = true;
    });
    // Time-outs and late effects.
    while (!isDone) await this.clock.advance(this.clock.pending > 0 ? 2_000 : 0);
    await all;
  }

  async #reconcile(key: string): Promise<void> {
    const current = this.#process;
    try {
      const { result } = await current.reconciler.reconcile(key, current.abort.signal);
      this.#settle(key, result);
    } catch (error) {
      if (error instanceof Killed) return;
      // As the queue does: retried, and logged.
      const isBug = !(error instanceof Error) || !('code' in error);
      if (isBug) this.bugs.push(`${key}: ${String(error)}`);
      this.#retry(key, 5, 1_000_000);
    }
  }

  #settle(key: string, result: ReconcileResult): void {
    if (result.kind === 'error') throw result.error;
    if (result.kind === 'retry') {
      this.#retry(key, result.baseDelayMs, result.maxDelayMs);
      return;
    }
    this.#failures.delete(key);
    if ('afterMs' in result) this.#delay(key, result.afterMs);
    if (result.due !== undefined) this.#delay(key, result.due.afterMs);
  }

  #retry(key: string, baseDelayMs: number, maxDelayMs: number): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#delay(key, backoffMs(failures, { baseDelayMs, maxDelayMs }));
  }

  #delay(key: string, ms: number): void {
    const atMs = this.clock.nowMs() + Math.ceil(ms);
    this.#due.set(key, Math.min(atMs, this.#due.get(key) ?? Number.POSITIVE_INFINITY));
  }

  #start(): Process {
    const process: Process = {
      effectsLeft: Number.POSITIVE_INFINITY,
      abort: new AbortController(),
      reconciler: undefined as never,
    };
    const point = () => {
      if (process.effectsLeft <= 0) throw new Killed();
      process.effectsLeft -= 1;
    };
    /** An effect that may be the last one, before it or after it. */
    const effect = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      point();
      const result = await work();
      point();
      return result;
    };
    const cluster: SeededCluster = this.#seeded.cluster?.(this.cluster) ?? this.cluster;
    const transport = this.#seeded.transport?.(this.api) ?? this.api;
    const ports: HttpObjectPorts = {
      cluster: {
        events: this.cluster.events,
        apply: (...args) => effect(() => cluster.apply(...args)),
        editMetadata: (...args) => effect(() => cluster.editMetadata(...args)),
      },
      transport: { send: (...args) => effect(() => transport.send(...args)) },
      values: {
        read: async () => ({ value: 'x', version: '1' }),
        secret: async (namespace, name) =>
          cluster.secret === undefined
            ? this.cluster.get('Secret', namespace, name)
            : cluster.secret(namespace, name),
        isNamespaceTerminating: async () => false,
      },
      tokens: { issue: async () => 'jwt' },
      random: { fraction: () => this.#random.fraction(), text: () => '' },
      ...{ parser, clock: this.clock },
    };
    const cached = (kind: string) => (key: string) => {
      const { namespace, name } = parseKey(key);
      return this.cluster.get(kind, namespace, name);
    };
    const { endpoint: changed = (endpoint) => endpoint } = this.#seeded;
    const endpoints = new Endpoints({
      ports,
      objectOf: (key) => {
        const endpoint = cached('HttpEndpoint')(key);
        return endpoint && changed(endpoint);
      },
    });
    const index = this.#seeded.index?.(new FarIndex()) ?? new FarIndex();
    // As after the initial list: who owns what is known before the first request.
    for (const object of this.objects) {
      const record = parseRecord(object.metadata.annotations?.[recordAnnotation]);
      index.set(claimOf(object, { plan: undefined, record, location: undefined }));
    }
    const objectOf = cached('HttpObject');
    return Object.assign(process, {
      reconciler: new ObjectReconciler({ ports, endpoints, index, objectOf }),
    });
  }
}

interface Process {
  effectsLeft: number;
  readonly abort: AbortController;
  readonly reconciler: ObjectReconciler;
}

export function keyOfObject({ metadata }: KubeObject): string {
  return keyOf(metadata.namespace, metadata.name);
}
