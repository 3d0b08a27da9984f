import { editMetadata } from '#kube/api/edit-metadata.ts';
import {
  type AccessRight,
  type ApplyOptions,
  type ApplyResult,
  type Cluster,
  type DeleteOptions,
  type EditMetadataOptions,
  type EventInput,
  type Informer,
  type InformerQuery,
  KubeError,
  type ManagedFieldsEntry,
  type MetadataPatch,
  type ObjectRef,
  type ReplaceOptions,
  type ResourceType,
  type StoredObject,
  type WriteOptions,
} from '#kube/roles.ts';
import { type GroupKind, type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import { FakeInformer, FakeWatch } from './fake-informer.ts';
import { FakeServer, type ServerEvent } from './fake-server.ts';
import { ScriptedRights } from './scripted-rights.ts';

/** A request as the audit log of a server would show it. */
export interface FakeRequest {
  readonly verb: 'get' | 'apply' | 'status' | 'replace' | 'edit' | 'delete';
  readonly kind: string;
  readonly name: string;
}

/** A request on its way: before the server acts, or before its answer arrives. */
export interface Moment extends FakeRequest {
  readonly when: 'before' | 'after';
}

/** Decides whether a request fails. */
export type Fault = (
  request: FakeRequest & { readonly manifest?: KubeObject },
) => KubeError | undefined;

/**
 * A cluster in memory: a server, watches on the runtime's own cache, and write-through. Watch events are held until
 * {@link FakeCluster.deliver}, so that a test decides when the cache learns of what others did.
 */
export class FakeCluster implements Cluster {
  readonly name = 'test';
  readonly requests: FakeRequest[] = [];
  readonly reported: EventInput[] = [];
  readonly events = { record: (event: EventInput) => void this.reported.push(event) };
  readonly server: FakeServer;
  readonly rights = new ScriptedRights();
  readonly #watches = new Map<string, FakeWatch>();
  readonly #blocked = new Map<string, KubeError>();
  readonly #pending: ServerEvent[] = [];
  /** Requests that are on their way. */
  inFlight = 0;
  /** Called before every request. */
  onRequest: (request: Parameters<Fault>[0]) => void = () => {};
  /** Asked before every request. */
  fault: Fault = () => undefined;
  /** Why an informer that begins now fails. */
  failure: (query: InformerQuery) => KubeError | undefined = () => undefined;
  /** Awaited before the server acts and again before its answer arrives. Undefined: both at once. */
  pace: ((moment: Moment) => Promise<void>) | undefined;
  readonly #leave: () => void;

  /** `server`: one that other clients use, too. */
  constructor(types: readonly ResourceType[], server = new FakeServer(types)) {
    this.server = server;
    this.#leave = server.subscribe((event) => this.#pending.push(event));
  }

  /** No event arrives any more. */
  leave(): void {
    this.#leave();
    this.loseEvents();
  }

  /** All requests but reads since the last call. */
  takeWrites(): readonly string[] {
    const writes = this.requests.filter(({ verb }) => verb !== 'get');
    this.requests.length = 0;
    return writes.map(({ verb, kind, name }) => `${verb} ${kind}/${name}`);
  }

  /** Queries that are watched at the moment. */
  get watched(): readonly InformerQuery[] {
    return [...this.#watches.values()].map(({ query }) => query);
  }

  /** Lets informers of a kind fail from now on. */
  block(kind: string, error: KubeError): void {
    this.#blocked.set(kind, error);
  }

  /** Lets informers of a kind fail that have listed it, and later ones. */
  lose(kind: string, error: KubeError): void {
    this.block(kind, error);
    for (const watch of this.#watches.values()) {
      if (watch.query.gvk.kind === kind) watch.lose(error);
    }
  }

  /** By the name of a deleted object, what was asked for its dependents. */
  readonly propagations = new Map<string, string>();

  /** The kind can be listed again: informers that failed sync. */
  unblock(kind: string): void {
    this.#blocked.delete(kind);
    for (const watch of this.#watches.values()) {
      if (watch.query.gvk.kind === kind) watch.sync(this.server, undefined);
    }
  }

  /** What was on its way is lost, as in an outage. */
  loseEvents(): void {
    this.#pending.length = 0;
  }

  /** The watches end with 410: what was on its way is lost, and everything is listed again. */
  relist(): void {
    this.loseEvents();
    for (const watch of this.#watches.values()) watch.relist(this.server);
  }

  /** Delivers all watch events that are held, or those of one or some kinds. False: there were none. */
  deliver(which?: string | ((kind: string) => boolean)): boolean {
    const held = this.#pending.splice(0);
    const isWanted = (kind: string) =>
      typeof which === 'function' ? which(kind) : which === undefined || which === kind;
    const events = held.filter(({ gvk }) => isWanted(gvk.kind));
    this.#pending.push(...held.filter((event) => !events.includes(event)));
    for (const event of events) {
      for (const watch of this.#watches.values()) watch.tell(event);
    }
    return events.length > 0;
  }

  acquire(query: InformerQuery): Informer {
    const key = JSON.stringify([
      gvkKey(query.gvk),
      query.namespace,
      query.labelSelector,
      query.fieldSelector,
    ]);
    const known = this.#watches.get(key);
    const watch = known ?? new FakeWatch(query);
    this.#watches.set(key, watch);
    watch.uses += 1;
    if (known === undefined) {
      // Never before the caller has subscribed.
      queueMicrotask(() => {
        const error = this.#blocked.get(query.gvk.kind) ?? this.failure(query);
        watch.sync(this.server, error);
      });
    }
    return new FakeInformer(watch, () => {
      watch.uses -= 1;
      if (watch.uses === 0) this.#watches.delete(key);
    });
  }

  async get(
    ref: ObjectRef,
    { pass }: WriteOptions,
    signal?: AbortSignal,
  ): Promise<StoredObject | undefined> {
    const request = this.#begin({ verb: 'get', kind: ref.gvk.kind, name: ref.name });
    return this.#through(
      { ...ref, request, signal },
      () => this.server.get(ref.gvk, ref.namespace, ref.name),
      (stored, answer) => {
        if (stored === undefined) answer.gone(undefined, pass);
        else answer.store(stored, pass);
      },
    );
  }

  async managedFields({ gvk, namespace, name }: ObjectRef): Promise<readonly ManagedFieldsEntry[]> {
    this.#begin({ verb: 'get', kind: gvk.kind, name });
    return this.server.fieldOwners(gvk, namespace, name);
  }

  async apply(
    manifest: KubeObject,
    options: ApplyOptions,
    signal?: AbortSignal,
  ): Promise<ApplyResult> {
    const status = options.subresource === 'status';
    const { kind, metadata } = manifest;
    const verb = status ? 'status' : 'apply';
    const request = this.#begin({ verb, kind, name: metadata.name }, manifest);
    const { fieldManager: manager, force, pass } = options;
    return this.#through(
      { ...refOf(manifest), request, signal },
      () => this.server.apply({ manifest, manager, force, status }),
      ({ stored }, answer) => answer.store(stored, pass),
    );
  }

  async replace(
    manifest: KubeObject,
    { fieldManager, pass }: ReplaceOptions,
    signal?: AbortSignal,
  ): Promise<StoredObject> {
    const { kind, metadata } = manifest;
    const request = this.#begin({ verb: 'replace', kind, name: metadata.name }, manifest);
    return this.#through(
      { ...refOf(manifest), request, signal },
      () => this.server.replace(manifest, fieldManager),
      (stored, answer) => answer.store(stored, pass),
    );
  }

  async editMetadata(
    ref: ObjectRef,
    options: EditMetadataOptions,
    signal?: AbortSignal,
  ): Promise<StoredObject | undefined> {
    const { gvk, namespace, name } = ref;
    const read = async () => {
      this.#begin({ verb: 'get', kind: gvk.kind, name });
      return this.server.getWithManagers(gvk, namespace, name);
    };
    const patch = async (metadata: MetadataPatch) => {
      const request = this.#begin({ verb: 'edit', kind: gvk.kind, name });
      return this.#through(
        { ...ref, request, signal },
        () => this.server.editMetadata(gvk, { namespace, name, metadata }),
        (stored, answer) => answer.store(stored, options.pass),
      );
    };
    return editMetadata({ read, patch }, options);
  }

  async delete(
    ref: ObjectRef,
    { uid, resourceVersion, pass, propagation = 'Background' }: DeleteOptions,
    signal?: AbortSignal,
  ): Promise<'deleted' | 'deleting' | 'gone'> {
    this.propagations.set(ref.name, propagation);
    const request = this.#begin({ verb: 'delete', kind: ref.gvk.kind, name: ref.name });
    const { namespace, name } = ref;
    return this.#through(
      { ...ref, request, signal },
      () => {
        const found = this.server.get(ref.gvk, namespace, name)?.object.metadata.resourceVersion;
        if (resourceVersion !== undefined && found !== undefined && found !== resourceVersion)
          throw new KubeError('conflict', 'The object has been modified', { status: 409 });
        return this.server.delete(ref.gvk, { namespace, name, uid }) ?? 'gone';
      },
      (result, answer) => {
        if (result === 'gone') answer.gone(uid, pass);
        else answer.deleting(uid, pass);
      },
    );
  }

  onGranted(right: AccessRight, listener: () => void): () => void {
    return this.rights.onGranted(right, listener);
  }

  resourceFor(gvk: Gvk): ResourceType | undefined {
    return this.server.typeOf(gvk);
  }

  async lookUp(gvk: Gvk): Promise<ResourceType | undefined> {
    return this.server.typeOf(gvk);
  }

  async findKind(kind: GroupKind): Promise<ResourceType | undefined> {
    return this.server.typeOfKind(kind);
  }

  #begin(request: FakeRequest, manifest?: KubeObject): FakeRequest {
    this.requests.push(request);
    const asked = { ...request, ...(manifest && { manifest }) };
    this.onRequest(asked);
    const error = this.fault(asked);
    if (error !== undefined) throw error;
    return request;
  }

  /** Acts on the server, and enters the answer into the watches: other things may happen before, between and after. */
  async #through<Result>(
    { signal, request, ...ref }: Call,
    act: () => Result,
    enter: (result: Result, answer: Answer) => void,
  ): Promise<Result> {
    const watches = [...this.#watches.values()].filter(
      ({ query, state }) => gvkKey(query.gvk) === gvkKey(ref.gvk) && state.kind === 'synced',
    );
    const tickets = watches.map((watch) => ({
      watch,
      ticket: watch.store.begin(ref.namespace, ref.name),
    }));
    const key = keyOf(ref.namespace, ref.name);
    this.inFlight += 1;
    const answer: Answer = {
      store(stored, pass) {
        for (const { watch } of tickets) watch.store.storeResponse(stored, pass);
      },
      deleting(uid, pass) {
        const at = '2026-01-01T00:00:00Z';
        for (const { watch } of tickets) watch.store.deleting(key, uid, { at, pass });
      },
      gone(uid, pass) {
        for (const { watch, ticket } of tickets) watch.store.gone(ticket, uid, pass);
      },
    };
    try {
      await this.pace?.({ ...request, when: 'before' });
      assertWanted(signal);
      const result = act();
      await this.pace?.({ ...request, when: 'after' });
      assertWanted(signal);
      enter(result, answer);
      return result;
    } finally {
      this.inFlight -= 1;
      for (const { watch, ticket } of tickets) watch.store.end(ticket);
    }
  }
}

interface Call extends ObjectRef {
  readonly request: FakeRequest;
  readonly signal?: AbortSignal | undefined;
}

function assertWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new KubeError('aborted', 'The request was aborted', { status: 0 });
}

interface Answer {
  store(stored: StoredObject, pass: WriteOptions['pass']): void;
  deleting(uid: string, pass: WriteOptions['pass']): void;
  gone(uid: string | undefined, pass: WriteOptions['pass']): void;
}

function refOf({ apiVersion, kind, metadata }: KubeObject): ObjectRef {
  const { namespace, name } = metadata;
  return { gvk: gvkOf(apiVersion, kind), name, ...(namespace && { namespace }) };
}
