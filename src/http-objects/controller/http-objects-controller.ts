import type { Cluster, Informer } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { isJsonObject } from '../../util/json.ts';
import { type KubeObject, keyOf, parseKey } from '../../util/kube-object.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import { planOf } from '../core/plan.ts';
import { objectFinalizer, parseRecord, recordAnnotation } from '../core/record.ts';
import { isBlocked } from '../core/view.ts';
import { httpEndpointGvk } from '../kinds/http-endpoint.ts';
import { httpObjectGvk } from '../kinds/http-object.ts';
import { decodeObject } from '../spec/object-spec.ts';
import { EndpointFinalizers } from './endpoint-finalizers.ts';
import { EndpointQueues } from './endpoint-queues.ts';
import { Endpoints } from './endpoints.ts';
import { claimOf, FarIndex } from './far-index.ts';
import { NamedValues } from './named-values.ts';
import { ObjectReconciler } from './object-reconciler.ts';
import { ownPass } from './object-writer.ts';
import type { HttpObjectPorts } from './ports.ts';

export interface HttpObjectsControllerOptions extends Omit<HttpObjectPorts, 'cluster' | 'values'> {
  readonly cluster: Cluster;
  readonly logger: Logger;
  /** The namespace of the runtime, whose Secrets are never read. Undefined: it runs outside of a cluster. */
  readonly runtimeNamespace: string | undefined;
}

/** Manages the objects behind HTTP: watches both kinds, and reconciles the objects of each endpoint in a queue of its own. */
export class HttpObjectsController {
  readonly #options: HttpObjectsControllerOptions;
  readonly #values: NamedValues;
  readonly #endpoints: Endpoints;
  readonly #queues: EndpointQueues;
  readonly #index = new FarIndex();
  readonly #reconciler: ObjectReconciler;
  readonly #finalizers: EndpointFinalizers;
  readonly #objects: Informer;
  readonly #endpointObjects: Informer;

  constructor(options: HttpObjectsControllerOptions) {
    const { cluster, clock, logger, runtimeNamespace } = options;
    this.#options = options;
    this.#objects = cluster.acquire({ gvk: httpObjectGvk });
    this.#endpointObjects = cluster.acquire({ gvk: httpEndpointGvk });
    this.#values = new NamedValues({
      ...{ cluster, clock, runtimeNamespace },
      onChange: (namespace) => this.#enqueueNamespace(namespace),
    });
    const ports = { ...options, values: this.#values };
    const objectOf = (key: string) => cached(this.#objects, key);
    const endpointOf = (key: string) => cached(this.#endpointObjects, key);
    this.#endpoints = new Endpoints({ ports, objectOf: endpointOf });
    this.#finalizers = new EndpointFinalizers({
      ...{ cluster, objectOf: endpointOf },
      isUsed: (endpoint) => this.#usersOf(endpoint).some(needsEndpoint),
    });
    this.#reconciler = new ObjectReconciler({
      ...{ ports, endpoints: this.#endpoints, index: this.#index, objectOf },
    });
    this.#queues = new EndpointQueues({
      ...{ clock, logger },
      reconcile: (key, signal) => this.#reconcile(key, signal),
    });
  }

  /** Runs until the signal aborts and all reconciles have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const running = this.#queues.run(signal);
    const unsubscribe = [
      this.#objects.onState(() => this.#startWhenSynced()),
      this.#endpointObjects.onState(() => this.#startWhenSynced()),
      this.#objects.subscribe(({ namespace, name, current, old, pass }) => {
        const object = current?.object ?? old?.object;
        // Also the own write that removes the last finalizer deletes it.
        const isOwnWrite = pass?.definition === ownPass && current !== undefined;
        if (object === undefined || isOwnWrite) return;
        this.#enqueue(keyOf(namespace, name), object);
        // Its endpoint may be free, and an object that was a conflict may have its turn.
        if (current === undefined) this.#noteDeleted(endpointKeyOf(object));
      }),
      this.#endpointObjects.subscribe(({ namespace, name, pass }) => {
        if (pass?.definition !== ownPass) this.#enqueueEndpoint(keyOf(namespace, name));
      }),
    ];
    this.#startWhenSynced();
    await whenAborted(signal);
    for (const each of unsubscribe) each();
    await running;
    this.#values.close();
    this.#objects.release();
    this.#endpointObjects.release();
  }

  get #isSynced(): boolean {
    return [this.#objects, this.#endpointObjects].every(({ state }) => state.kind === 'synced');
  }

  /** Which object has what is known before the first request. */
  #startWhenSynced(): void {
    if (!this.#isSynced) return;
    for (const { object } of this.#objects.list()) this.#claim(object);
    for (const { object } of this.#objects.list())
      this.#enqueue(keyOfObject(object), object, 'low');
  }

  #claim(object: KubeObject): void {
    const { spec } = decodeObject(object, this.#options.parser);
    const plan = spec && planOf(spec, object.metadata, []);
    this.#index.set(
      claimOf(object, {
        plan: plan === undefined || isBlocked(plan) ? undefined : plan,
        record: parseRecord(object.metadata.annotations?.[recordAnnotation]),
        location: this.#endpoints.locationOf(endpointKeyOf(object)),
      }),
    );
  }

  #enqueue(key: string, object: KubeObject, priority: 'normal' | 'low' = 'normal'): void {
    this.#queues.enqueue(endpointKeyOf(object), key, priority);
  }

  #enqueueEndpoint(endpoint: string): void {
    for (const object of this.#usersOf(endpoint)) this.#enqueue(keyOfObject(object), object);
    // Without users, its finalizer is removed.
    this.#queues.enqueue(endpoint, `${endpointPrefix}${endpoint}`);
  }

  #noteDeleted(endpoint: string): void {
    this.#enqueueEndpoint(endpoint);
    const isMissing = cached(this.#endpointObjects, endpoint) === undefined;
    if (isMissing && this.#usersOf(endpoint).length === 0) this.#queues.remove(endpoint);
    const { namespace } = parseKey(endpoint);
    const isUsed = [...this.#objects.list()].some(
      ({ object }) => object.metadata.namespace === namespace,
    );
    if (!isUsed) this.#values.forget(namespace);
  }

  #enqueueNamespace(namespace: string): void {
    for (const { object } of this.#objects.list())
      if (object.metadata.namespace === namespace) this.#enqueue(keyOfObject(object), object);
  }

  async #reconcile(key: string, signal: AbortSignal) {
    if (!this.#isSynced) return { kind: 'done' } as const;
    if (key.startsWith(endpointPrefix)) {
      await this.#finalizers.release(key.slice(endpointPrefix.length), signal);
      return { kind: 'done' } as const;
    }
    const object = cached(this.#objects, key);
    // Its write precedes any request.
    if (object !== undefined) await this.#finalizers.add(endpointKeyOf(object), signal);
    return this.#reconciler.reconcile(key, signal);
  }

  #usersOf(endpoint: string): readonly KubeObject[] {
    const index = this.#objects.index('endpoint', (object) => [endpointKeyOf(object)]);
    return index.get(endpoint).map(({ object }) => object);
  }
}

/** Keys of endpoints in the queues; names of objects have no such character. */
const endpointPrefix = '!';

/** An object that is not being deleted, or that still has something in the API. */
function needsEndpoint({ metadata }: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = metadata;
  return deletionTimestamp === undefined || finalizers.includes(objectFinalizer);
}

function endpointKeyOf({ metadata, spec }: KubeObject): string {
  const endpoint = isJsonObject(spec) ? spec.endpoint : undefined;
  const name = isJsonObject(endpoint) && typeof endpoint.name === 'string' ? endpoint.name : '';
  return keyOf(metadata.namespace, name);
}

function keyOfObject({ metadata }: KubeObject): string {
  return keyOf(metadata.namespace, metadata.name);
}

function cached(informer: Informer, key: string): KubeObject | undefined {
  const { namespace, name } = parseKey(key);
  return informer.get(namespace, name)?.object;
}
