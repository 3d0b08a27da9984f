import type { CacheEvent, Cluster, Informer, TokenRequests } from '#kube/roles.ts';
import type { Logger, MetricRegistry } from '#telemetry/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject } from '#util/json.ts';
import { type KubeObject, keyOf, parseKey } from '#util/kube-object.ts';
import { whenAborted } from '#util/when-aborted.ts';
import { planOf } from '../core/plan.ts';
import { objectFinalizer, parseRecord, recordAnnotation } from '../core/record.ts';
import { isBlocked } from '../core/view.ts';
import { httpEndpointGvk } from '../kinds/http-endpoint.ts';
import { httpObjectGvk } from '../kinds/http-object.ts';
import { decodeObject } from '../spec/object-spec.ts';
import { nothingSent, type ObjectResult } from './endpoint-outage.ts';
import { EndpointOwnership, type RuntimeNames } from './endpoint-ownership.ts';
import { EndpointQueues } from './endpoint-queues.ts';
import { EndpointReconciler } from './endpoint-reconciler.ts';
import { Endpoints } from './endpoints.ts';
import { claimOf, FarIndex } from './far-index.ts';
import { HttpMetrics, type ObjectState } from './http-metrics.ts';
import { LoginTokens } from './login-tokens.ts';
import { NamedValues } from './named-values.ts';
import { ObjectReconciler } from './object-reconciler.ts';
import { objectStateOf } from './object-state.ts';
import { ownPass } from './object-writer.ts';
import type { HttpObjectPorts } from './ports.ts';
import { RejectedWrites } from './rejected-writes.ts';

export interface HttpObjectsControllerOptions
  extends Omit<HttpObjectPorts, 'cluster' | 'metrics' | 'tokens' | 'values'>,
    RuntimeNames {
  readonly cluster: Cluster;
  readonly tokenRequests: TokenRequests;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
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
  readonly #ownership: EndpointOwnership;
  readonly #endpointReconciler: EndpointReconciler;
  readonly #metrics: HttpMetrics;
  readonly #rejected: RejectedWrites;
  readonly #objects: Informer;
  readonly #endpointObjects: Informer;

  constructor(options: HttpObjectsControllerOptions) {
    const { cluster, clock, logger, runtimeNamespace, tokenRequests } = options;
    const { runtime, takeOverFrom } = options;
    this.#options = options;
    this.#metrics = new HttpMetrics(options.metrics);
    this.#rejected = new RejectedWrites({ logger, events: cluster.events });
    this.#objects = cluster.acquire({ gvk: httpObjectGvk });
    this.#endpointObjects = cluster.acquire({ gvk: httpEndpointGvk });
    this.#values = new NamedValues({
      ...{ cluster, clock, runtimeNamespace },
      onChange: (namespace) => this.#enqueueNamespace(namespace),
    });
    const ports: HttpObjectPorts = {
      ...options,
      values: this.#values,
      metrics: this.#metrics,
      tokens: new LoginTokens({ cluster, requests: tokenRequests }),
    };
    const objectOf = (key: string) => cached(this.#objects, key);
    const endpointOf = (key: string) => cached(this.#endpointObjects, key);
    this.#endpoints = new Endpoints({ ports, objectOf: endpointOf });
    this.#ownership = new EndpointOwnership({
      ...{ cluster, objectOf: endpointOf, runtime, takeOverFrom },
      isUsed: (endpoint) => this.#usersOf(endpoint).some(needsEndpoint),
    });
    this.#endpointReconciler = new EndpointReconciler({
      ...{ ports, endpoints: this.#endpoints, ownership: this.#ownership, logger },
      objectOf: endpointOf,
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
      this.#objects.subscribe((event) => {
        const { namespace, name, current, old } = event;
        const object = current?.object ?? old?.object;
        if (object === undefined || isOwnChange(event)) return;
        this.#enqueue(keyOf(namespace, name), object);
        // The endpoint that it had may be free, and its queue may be empty.
        const before = old && endpointKeyOf(old.object);
        if (before !== undefined && before !== endpointKeyOf(object)) this.#enqueueAlone(before);
        // Its endpoint may be free, and an object that was a conflict may have its turn.
        if (current === undefined) this.#noteDeleted(endpointKeyOf(object));
      }),
      this.#endpointObjects.subscribe((event) => {
        const key = keyOf(event.namespace, event.name);
        if (event.current === undefined) this.#noteDeleted(key);
        else if (!isOwnChange(event)) this.#enqueueEndpoint(key);
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

  /** Updates the gauges before a scrape. */
  observe(): void {
    const states = new Map<ObjectState, number>();
    for (const { object } of this.#objects.list()) {
      const state = objectStateOf(object);
      states.set(state, (states.get(state) ?? 0) + 1);
    }
    this.#metrics.setObjects(states, this.#reconciler.oldestObservationMs);
  }

  get #isSynced(): boolean {
    return [this.#objects, this.#endpointObjects].every(({ state }) => state.kind === 'synced');
  }

  /** Which object has what is known before the first request. */
  #startWhenSynced(): void {
    if (!this.#isSynced) return;
    for (const { object } of this.#objects.list()) this.#claim(object);
    for (const { object } of this.#endpointObjects.list()) this.#enqueueAlone(keyOfObject(object));
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
    this.#enqueueAlone(endpoint);
  }

  /** Its status, and without users its finalizer. */
  #enqueueAlone(endpoint: string): void {
    this.#queues.enqueue(endpoint, `${endpointPrefix}${endpoint}`);
  }

  /** Call after an object or its endpoint was deleted. */
  #noteDeleted(endpoint: string): void {
    this.#enqueueEndpoint(endpoint);
    const { namespace } = parseKey(endpoint);
    const isUsed = [...this.#objects.list(), ...this.#endpointObjects.list()].some(
      ({ object }) => object.metadata.namespace === namespace,
    );
    if (!isUsed) this.#values.forget(namespace);
  }

  #enqueueNamespace(namespace: string): void {
    for (const { object } of this.#objects.list())
      if (object.metadata.namespace === namespace) this.#enqueue(keyOfObject(object), object);
    for (const { object } of this.#endpointObjects.list())
      if (object.metadata.namespace === namespace) this.#enqueueAlone(keyOfObject(object));
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ObjectResult> {
    if (!this.#isSynced) return nothingSent;
    const endpoint = key.startsWith(endpointPrefix) ? key.slice(endpointPrefix.length) : undefined;
    const object =
      endpoint === undefined ? cached(this.#objects, key) : cached(this.#endpointObjects, endpoint);
    try {
      const result =
        endpoint === undefined
          ? await this.#reconcileObject(key, object, signal)
          : await this.#reconcileEndpoint(endpoint, signal);
      this.#rejected.forget(key);
      return result;
    } catch (error) {
      if (!signal.aborted) this.#rejected.note(key, object, error);
      throw error;
    }
  }

  async #reconcileObject(
    key: string,
    object: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<ObjectResult> {
    // Its finalizer precedes any request.
    const isOurs =
      object === undefined || (await this.#ownership.claim(endpointKeyOf(object), true, signal));
    return isOurs ? this.#reconciler.reconcile(key, signal) : nothingSent;
  }

  async #reconcileEndpoint(endpoint: string, signal: AbortSignal): Promise<ObjectResult> {
    const result = await this.#endpointReconciler.reconcile(endpoint, signal);
    const isMissing = cached(this.#endpointObjects, endpoint) === undefined;
    if (isMissing && this.#usersOf(endpoint).length === 0) this.#queues.remove(endpoint);
    // Its check waits for its own time.
    return { result, reach: undefined };
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

/**
 * Whether an event shows nothing but an own write. Its answer may be the first that shows a deletion or an edit, and no other event
 * follows. The own write that removes the last finalizer deletes the object.
 */
function isOwnChange({ pass, old, current }: CacheEvent): boolean {
  if (pass?.definition !== ownPass || current === undefined || old === undefined) return false;
  return deepEqual(othersPart(old.object), othersPart(current.object));
}

/** What users change of an object. */
function othersPart({ metadata }: KubeObject): unknown {
  const { uid, generation, deletionTimestamp, annotations = {} } = metadata;
  const { [recordAnnotation]: _, ...others } = annotations;
  return { uid, generation, deletionTimestamp, others };
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
