/**
 * What the rooms above need of a cluster: object types, roles and error classes, nothing of Node.
 * CONTRACT between kube, reconcile, runtime and sandbox.
 */
import type { GroupKind, Gvk } from '../util/gvk.ts';
import type { KubeObject, ObjectMeta } from '../util/kube-object.ts';
import type { LabelSelector } from '../util/label-selector.ts';
import type { AccessRight } from './kube-error.ts';

export { type AccessRight, KubeError, type KubeErrorCode, type StatusCause } from './kube-error.ts';
export type { ServerSilence } from './server-silence.ts';

/** A served resource, from discovery. */
export interface ResourceType {
  readonly gvk: Gvk;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Does the kind have a `/status` subresource? */
  readonly hasStatus: boolean;
  readonly verbs: readonly string[];
}

/** Names one object. `namespace` is left out for cluster-scoped kinds. */
export interface ObjectRef {
  readonly gvk: Gvk;
  readonly namespace?: string;
  readonly name: string;
  /** Namespace and name may be of a Secret: no message and no line of the log says them. */
  readonly isPrivate?: true;
}

/**
 * An object as the cache holds it: without `managedFields` and the last-applied annotation, which are noted and then
 * dropped at ingest (59 % of the heap). Readonly and shared: copy before changing.
 */
export interface StoredObject {
  readonly object: KubeObject;
  /** Field managers of ours (`homeostat/...`) with an Apply entry on the main resource when the object was decoded. */
  readonly appliedBy: readonly string[];
}

/** Who asks, for fairness and for metrics. */
export interface Flow {
  /** The definition on whose behalf the request is made, or a name of ours such as `discovery`. */
  readonly name: string;
  /** Deletes and applies go before status writes, and these before Events: people wait for the world, not for the report. */
  readonly priority: 'world' | 'status' | 'event';
}

/**
 * Identity of one pass: a write's response is delivered to every subscriber but the pass that made it,
 * which sees it in the answer.
 */
export interface PassToken {
  readonly key: string;
  readonly definition: string;
}

export interface WriteOptions {
  readonly flow: Flow;
  /** The pass on whose behalf the write is made; its own subscriber is not woken by the answer. */
  readonly pass?: PassToken;
}

export interface ApplyOptions extends WriteOptions {
  /** Stable for ever: `homeostat/<definition>`. */
  readonly fieldManager: string;
  /** Takes fields from other managers. */
  readonly force: boolean;
  /** Only the `/status` subresource. @default undefined (the main resource) */
  readonly subresource?: 'status';
  /** A larger object is not sent: KubeError `too-large`. @default undefined (the server decides) */
  readonly maxBytes?: number;
}

export interface ApplyResult {
  readonly stored: StoredObject;
  /** True for 201: the object did not exist before. */
  readonly created: boolean;
}

export interface DeleteOptions extends WriteOptions {
  /** Only this very object. A mismatch is KubeError `uid-mismatch`: this one is gone, there is another. */
  readonly uid: string;
  /** @default 'Background' */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

/** Metadata as a server sends it. `managedFields` is there only where the object was just read from it. */
export interface EditableMetadata extends ObjectMeta {
  readonly managedFields?: unknown;
}

/** A JSON merge patch of `metadata`: null removes a field, a list replaces a list. */
export type MetadataPatch = Readonly<Record<string, unknown>>;

export interface EditOptions extends WriteOptions {
  /** Only this very object. */
  readonly uid: string;
  /** The object as the caller knows it: not read again unless it has changed since. @default undefined: it is read first */
  readonly from?: KubeObject;
  /** What is to be changed; undefined: nothing. Pure; called again when others changed the object meanwhile. */
  readonly change: (metadata: EditableMetadata) => MetadataPatch | undefined;
}

/** Live reads. Everything else is read from informers. */
export interface Reader {
  /**
   * GET. Undefined for 404. The answer is stored in every informer that selects the object (write-through).
   * @throws KubeError for every other failure.
   */
  get(
    ref: ObjectRef,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<StoredObject | undefined>;
  /**
   * GET of an object for its `metadata.managedFields`, which the cache does not keep. None for 404. The object enters the cache as
   * with {@link Reader.get}.
   * @throws KubeError for every other failure.
   */
  fieldOwners(
    ref: ObjectRef,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<readonly FieldOwner[]>;
}

/** An entry of `metadata.managedFields`. */
export interface FieldOwner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** Left out: the main resource. */
  readonly subresource?: string;
  /** What it manages, as FieldsV1: `{ "f:spec": { "f:replicas": {} } }`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Writes of whole intents. Answers are stored at once in every informer that selects the object (write-through). */
export interface Writer {
  /**
   * Server-side apply. With `metadata.resourceVersion: "1"` in the manifest it creates only, see engine.md section 5.
   * Does not retry conflicts: the caller's queue does.
   * @throws KubeError
   */
  apply(manifest: KubeObject, options: ApplyOptions, signal: AbortSignal): Promise<ApplyResult>;
  /**
   * Changes metadata that no apply can take away: a finalizer that others own too, the entry of a field manager. Undefined: there
   * was nothing to change, or this object is gone.
   * @throws KubeError
   */
  editMetadata(
    ref: ObjectRef,
    options: EditOptions,
    signal: AbortSignal,
  ): Promise<StoredObject | undefined>;
  /** DELETE with a UID precondition. `gone` when it was not there any more, `deleting` when finalizers hold it, `deleted` else. */
  delete(
    ref: ObjectRef,
    options: DeleteOptions,
    signal: AbortSignal,
  ): Promise<'deleted' | 'deleting' | 'gone'>;
}

/** Which objects an informer holds. */
export interface InformerQuery {
  readonly gvk: Gvk;
  /** One namespace; left out: all of them (or the kind is cluster-scoped). */
  readonly namespace?: string;
  /** As in the API: `a=b,c`. Left out: everything. */
  readonly labelSelector?: string;
  /** `metadata.name=x` only. */
  readonly fieldSelector?: string;
  /** As {@link ObjectRef.isPrivate}. */
  readonly isPrivate?: true;
  /** Of objects that are not like this only the metadata is held. @default undefined: all are held whole */
  readonly wholeIf?: WholeObjects;
}

/** Objects that matter beyond their being there: those that match both selectors, and those with the finalizer. */
export interface WholeObjects {
  readonly labels?: LabelSelector;
  readonly annotations?: LabelSelector;
  readonly finalizer: string;
}

/** Where an informer stands. `waiting` = not synced yet, nothing wrong so far. */
export type InformerState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'synced' }
  /**
   * Never synced, and the last try failed so (`forbidden`, `kind-missing`, `unavailable`, ...); or synced once, and the
   * kind or the right to see it has gone. It keeps trying.
   */
  | { readonly kind: 'failing'; readonly error: import('./kube-error.ts').KubeError };

/**
 * One change of one key in an informer. `old` and `current` may differ in UID (deleted and recreated unseen).
 * At least one of them is there.
 */
export interface CacheEvent {
  readonly namespace: string;
  readonly name: string;
  readonly old?: StoredObject;
  readonly current?: StoredObject;
  /** Part of the first list (or of the present store for a late subscriber). */
  readonly initial: boolean;
  /** The pass whose write's answer this is; undefined for watch events and lists. */
  readonly pass?: PassToken;
}

/** An index over an informer: objects by the values that `valuesOf` gave. */
export interface CacheIndex {
  get(value: string): readonly StoredObject[];
}

/**
 * A use of a shared, use-counted informer. Release it when done; the informer stops with its last use.
 * Listeners are called synchronously, in order per key, never across an await.
 */
export interface Informer {
  readonly query: InformerQuery;
  readonly state: InformerState;
  get(namespace: string | undefined, name: string): StoredObject | undefined;
  list(): Iterable<StoredObject>;
  /** The index of that name, made on first use. `valuesOf` must be pure, and the same for the same name. */
  index(name: string, valuesOf: (object: KubeObject) => readonly string[]): CacheIndex;
  /** Subscribes and first delivers the present store as `initial` events. Returns the unsubscribe function. */
  subscribe(listener: (event: CacheEvent) => void): () => void;
  /** Called at every change of `state`. Returns the unsubscribe function. */
  onState(listener: (state: InformerState) => void): () => void;
  /** Resolves when `state` is `synced` and subscribers have received the first list; rejects when the signal aborts. */
  whenSynced(signal: AbortSignal): Promise<void>;
  release(): void;
}

/** Gives out shared informers. */
export interface Watcher {
  acquire(query: InformerQuery): Informer;
}

/** An Event to be told on an object. Never awaited: Events have their own queue and budget. */
export interface EventInput {
  readonly regarding: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, at most 128 bytes. */
  readonly reason: string;
  /** What was being done, CamelCase: `Reconcile`, `Apply`, `Delete`. */
  readonly action: string;
  /** Cut to 1024 bytes. */
  readonly note: string;
  /** The definition on whose behalf it is told. */
  readonly definition: string;
}

export interface EventRecorder {
  record(event: EventInput): void;
}

/** Where Events may not be written, as far as somebody has tried. */
export interface EventsRefused {
  /** How many namespaces it is about, at most 100. */
  readonly namespaces: number;
  /** What is missing in one of them, where the server says so. */
  readonly right?: AccessRight;
}

/** What discovery knows. */
export interface Discovery {
  /** From the cache of discovery documents; undefined when the kind is not known (yet). Synchronous. */
  resourceFor(gvk: Gvk): ResourceType | undefined;
  /** Asks the server again where needed. Undefined: the server does not serve this kind. @throws KubeError */
  lookUp(gvk: Gvk, signal: AbortSignal): Promise<ResourceType | undefined>;
}

/** Finds kinds of which nobody has noted the version. */
export interface KindFinder {
  /** The kind in the version that the server prefers. Undefined: it serves none of that name. @throws KubeError */
  findKind(kind: GroupKind, signal: AbortSignal): Promise<ResourceType | undefined>;
}

/** JSON schemas of one kind: the root's name and every component that it reaches, as in OpenAPI v3 `components.schemas`. */
export interface KindSchema {
  readonly root: string;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Says when a right that was missing has come. */
export interface RightsWatch {
  /**
   * Calls back once, when the right is there. While anybody waits for a right, one SelfSubjectAccessReview asks for it again,
   * after 5 s doubling to 60 s, however many wait; while nobody does, none. Where the server does not let us ask, it calls back
   * when it would have asked: only the request itself can tell then.
   * @returns the function that ends the waiting.
   */
  onGranted(right: AccessRight, listener: () => void): () => void;
}

/** A cluster is a value, not a global: all that a pass may do to the world. */
export interface Cluster extends Reader, Writer, Watcher, Discovery, KindFinder, RightsWatch {
  /** Its name, `$cluster` in expressions. */
  readonly name: string;
  readonly events: EventRecorder;
}
