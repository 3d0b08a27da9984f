/**
 * Types and errors of a cluster that other rooms use. Nothing here depends on Node.
 * Contract between kube, reconcile, runtime and sandbox.
 */
import type { FieldSteps } from '#util/field-path.ts';
import type { GroupKind, Gvk } from '#util/gvk.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import type { LabelSelector } from '#util/label-selector.ts';
import type { AccessRight } from './kube-error.ts';

export {
  type AccessRight,
  KubeError,
  type KubeErrorCode,
  type MissingObject,
  type StatusCause,
} from './kube-error.ts';

/** A resource that the server serves, from discovery. */
export interface ResourceType {
  readonly gvk: Gvk;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Does the kind have a `/status` subresource? */
  readonly hasStatus: boolean;
  /** Does it have a `/scale` subresource? @default false */
  readonly hasScale?: boolean;
  readonly verbs: readonly string[];
}

/** Reference to one object. `namespace` is omitted for cluster-scoped kinds. */
export interface ObjectRef<Kind extends Gvk = Gvk> {
  readonly gvk: Kind;
  readonly namespace?: string;
  readonly name: string;
  /** Namespace and name may belong to a Secret: they must not appear in messages or logs. */
  readonly isPrivate?: true;
}

/** The cluster of an object or kind, for a {@link RoutingCluster}. Required, so that none is forgotten. */
export interface InCluster {
  /** Undefined: the cluster of the runtime. */
  readonly cluster: string | undefined;
}

/** A kind in one cluster. */
export type KindAt = Gvk & InCluster;
/** A kind without its version, in one cluster. */
export type GroupKindAt = GroupKind & InCluster;
/** A reference to an object of one cluster. */
export type RefAt = ObjectRef<KindAt>;

/**
 * An object in the cache, without `managedFields` and the last-applied annotation (59 % of the heap). Readonly and
 * shared: copy it before changing it.
 */
export interface StoredObject extends InCluster {
  readonly object: KubeObject;
  /** Our field managers (`homeostat/...`) with an Apply entry on the main resource when the object was decoded. */
  readonly appliedBy: readonly string[];
}

/** The originator of a request, for fair queueing and metrics. */
export interface Flow {
  /** Name of the definition, or an internal name such as `discovery`. */
  readonly name: string;
  /**
   * `object`: deletes and applies. They are sent before status writes, and status writes before Events. The values are
   * metric labels.
   */
  readonly priority: 'object' | 'status' | 'event';
}

/** Identifies one reconcile. The response to a write is delivered to all subscribers except the reconcile that sent it. */
export interface PassToken {
  readonly key: string;
  readonly definition: string;
  /** Called with each request before it is sent; the result with the status of the response. @default undefined: no call */
  readonly onRequest?: (request: SentRequest) => (status: number) => void;
}

/** A request of a reconcile, for a record of it. */
export interface SentRequest {
  readonly verb: 'get' | 'apply' | 'create' | 'replace' | 'patch' | 'delete';
  readonly ref: ObjectRef;
  /** @default undefined: the main resource */
  readonly subresource?: 'status';
}

export interface WriteOptions {
  readonly flow: Flow;
  /** The reconcile that writes. Its own subscriber is not notified of the response. */
  readonly pass?: PassToken;
  /** The name may come from a Secret: the record of the request does not have it. @default false */
  readonly isPrivate?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  /** `homeostat/<definition>`. Must never change. */
  readonly fieldManager: string;
  /** Takes ownership of fields from other managers. */
  readonly force: boolean;
  /** Only the `/status` subresource. @default undefined (the main resource) */
  readonly subresource?: 'status';
  /** Larger objects are not sent: KubeError `too-large`. @default undefined (no client-side limit) */
  readonly maxBytes?: number;
}

export interface ReplaceOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Larger objects are not sent: KubeError `too-large`. @default undefined (no client-side limit) */
  readonly maxBytes?: number;
}

export interface ApplyResult {
  readonly stored: StoredObject;
  /** True for status 201: the object did not exist. */
  readonly created: boolean;
}

export interface DeleteOptions extends WriteOptions {
  /** Precondition. A mismatch is KubeError `uid-mismatch`: the object was deleted and another one has its name. */
  readonly uid: string;
  /** Precondition: only this state of the object. A mismatch is KubeError `conflict`. @default undefined: any */
  readonly resourceVersion?: string;
  /** @default 'Background' */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

/** Metadata as sent by the server. `managedFields` is present only if the object was just read from the server. */
export interface EditableMetadata extends ObjectMeta {
  readonly managedFields?: unknown;
}

/** A JSON merge patch of `metadata`: null removes a field, a list replaces a list. */
export type MetadataPatch = Readonly<Record<string, unknown>>;

export interface EditMetadataOptions extends WriteOptions {
  /** Precondition on the UID of the object. */
  readonly uid: string;
  /** The object from the cache. It is read again only if it has changed since. @default undefined: it is read first */
  readonly cached?: KubeObject;
  /** The fields whose ownership the edit removes, and whose values the next apply keeps: a dry run does not store the edit. */
  readonly keeps?: readonly FieldSteps[];
  /** Returns the patch, or undefined for no change. Must be pure: it is called again after a conflict. */
  readonly change: (metadata: EditableMetadata) => MetadataPatch | undefined;
}

/** Live reads. All other reads use informers. */
export interface Reader {
  /**
   * GET. Undefined for 404. The response is stored in every informer that selects the object (write-through).
   * @throws KubeError for every other failure.
   */
  get(
    ref: ObjectRef,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<StoredObject | undefined>;
  /**
   * Reads `metadata.managedFields`, which the cache does not keep. Empty for 404. The response enters the cache as
   * with {@link Reader.get}.
   * @throws KubeError for every other failure.
   */
  managedFields(
    ref: ObjectRef,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<readonly ManagedFieldsEntry[]>;
}

/** An entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** Omitted: the main resource. */
  readonly subresource?: string;
  /** The managed fields as FieldsV1: `{ "f:spec": { "f:replicas": {} } }`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Writes. Responses are stored at once in every informer that selects the object (write-through). */
export interface Writer {
  /**
   * Server-side apply. With `metadata.resourceVersion: "1"` in the manifest it only creates.
   * Does not retry conflicts: the caller's queue does. If `managedFields` of the object name a version that its kind no
   * longer has, these entries are renamed once, and the apply is sent again.
   * @throws KubeError
   */
  apply(manifest: KubeObject, options: ApplyOptions, signal: AbortSignal): Promise<ApplyResult>;
  /**
   * Replaces an existing object (PUT): fields that the manifest lacks are removed. Status and metadata are kept, except
   * labels and annotations that the manifest names. `uid` and `resourceVersion` of the manifest are preconditions.
   * @throws KubeError `conflict` if the object has changed since, `not-found` if it does not exist
   */
  replace(
    manifest: KubeObject,
    options: ReplaceOptions,
    signal: AbortSignal,
  ): Promise<StoredObject>;
  /**
   * Changes metadata that server-side apply cannot remove: a finalizer with several owners, the entry of a field
   * manager. Returns undefined if nothing changed or the object no longer exists.
   * @throws KubeError
   */
  editMetadata(
    ref: ObjectRef,
    options: EditMetadataOptions,
    signal: AbortSignal,
  ): Promise<StoredObject | undefined>;
  /** DELETE with a UID precondition. `gone`: the object did not exist. `deleting`: finalizers delay the deletion. */
  delete(
    ref: ObjectRef,
    options: DeleteOptions,
    signal: AbortSignal,
  ): Promise<'deleted' | 'deleting' | 'gone'>;
}

/** The objects that an informer caches. */
export interface InformerQuery {
  readonly gvk: Gvk;
  /** One namespace. Omitted: all namespaces, or the kind is cluster-scoped. */
  readonly namespace?: string;
  /** As in the API: `a=b,c`. Omitted: all objects. */
  readonly labelSelector?: string;
  /** `metadata.name=x` only. */
  readonly fieldSelector?: string;
  /** See {@link ObjectRef.isPrivate}. */
  readonly isPrivate?: true;
  /**
   * Selects the objects to cache in full. Only the metadata of other objects is cached. @default undefined: all
   * objects in full
   */
  readonly fullObjects?: FullObjectSelector;
}

/** Objects that match both selectors, and objects with the finalizer. */
export interface FullObjectSelector {
  readonly labels?: LabelSelector;
  readonly annotations?: LabelSelector;
  readonly finalizer: string;
}

/** State of an informer. `waiting`: not synced yet, no failure so far. */
export type InformerState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'synced' }
  /**
   * Not synced, and the last attempt failed (`forbidden`, `kind-missing`, `unavailable`, ...). Or it was synced, and
   * the kind or the right to read it was removed. The informer keeps retrying.
   */
  | { readonly kind: 'failing'; readonly error: import('./kube-error.ts').KubeError };

/**
 * A change of one key in an informer. At least one of `old` and `current` is set. Their UIDs differ if a deletion and
 * a recreation were seen as one change.
 */
export interface CacheEvent {
  readonly namespace: string;
  readonly name: string;
  readonly old?: StoredObject;
  readonly current?: StoredObject;
  /** Part of the initial list, or of the current store for a late subscriber. */
  readonly initial: boolean;
  /** The reconcile whose write caused this response. Undefined for watch events and lists. */
  readonly pass?: PassToken;
}

/** An index of an informer: objects by the values of an index function. */
export interface CacheIndex {
  get(value: string): readonly StoredObject[];
}

/**
 * A handle on a shared, reference-counted informer. Release it after use: the informer stops with its last handle.
 * Listeners are called synchronously, in order per key.
 */
export interface Informer {
  readonly query: InformerQuery;
  readonly state: InformerState;
  get(namespace: string | undefined, name: string): StoredObject | undefined;
  list(): Iterable<StoredObject>;
  /** The index with this name, created on first use. `valuesOf` must be pure, and the same for the same name. */
  index(name: string, valuesOf: (object: KubeObject) => readonly string[]): CacheIndex;
  /** Subscribes, and first delivers the current store as `initial` events. Returns the unsubscribe function. */
  subscribe(listener: (event: CacheEvent) => void): () => void;
  /** Calls the listener on every change of `state`. Returns the unsubscribe function. */
  onState(listener: (state: InformerState) => void): () => void;
  release(): void;
}

/** Provides shared informers. */
export interface Watcher {
  acquire(query: InformerQuery): Informer;
}

/** An Event about an object. Recording never blocks: Events have their own queue and rate limit. */
export interface EventInput {
  readonly regarding: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, at most 128 bytes. */
  readonly reason: string;
  /** The action, CamelCase: `Reconcile`, `Apply`, `Delete`. */
  readonly action: string;
  /** Truncated to 1024 bytes. */
  readonly note: string;
  /** The definition that reports it. */
  readonly definition: string;
  /**
   * It reports a state that may last beyond a restart: its name is computed from its content, so that another process cannot create it again.
   * @default false
   */
  readonly isLasting?: boolean;
}

export interface EventRecorder {
  record(event: EventInput): void;
}

/** Namespaces in which Events were denied so far. */
export interface EventsDenied {
  /** Number of namespaces, at most 100. */
  readonly namespaces: number;
  /** The missing right in one of them, if the server names it. */
  readonly right?: AccessRight;
}

/** The kinds that the server serves. */
export interface Discovery {
  /** Reads cached discovery documents. Undefined: the kind is not known yet. Synchronous. */
  resourceFor(gvk: Gvk): ResourceType | undefined;
  /** Queries the server if needed. Undefined: the server does not serve this kind. @throws KubeError */
  lookUp(gvk: Gvk, signal: AbortSignal): Promise<ResourceType | undefined>;
}

/** Finds kinds whose version is unknown. */
export interface KindFinder {
  /** The kind in the server's preferred version. Undefined: the server does not serve it. @throws KubeError */
  findKind(kind: GroupKind, signal: AbortSignal): Promise<ResourceType | undefined>;
}

/** JSON schemas of one kind: the name of the root and every component it references, as in OpenAPI v3 `components.schemas`. */
export interface KindSchema {
  readonly root: string;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Notifies when a missing right is granted. */
export interface RightsWatcher {
  /**
   * Calls the listener once, when the right is granted. One SelfSubjectAccessReview per right polls it, after 5 s
   * doubling to 60 s, shared by all listeners. If the server denies the review itself, the listener is called at the
   * time of the review: the caller retries its own request.
   * @returns the unsubscribe function
   */
  onGranted(right: AccessRight, listener: () => void): () => void;
}

/** All access to one cluster. It is passed in, never global. */
export interface Cluster extends Reader, Writer, Watcher, Discovery, KindFinder, RightsWatcher {
  /** `$cluster.name` in expressions: of the `Cluster` object; `hub` for the cluster of the runtime. */
  readonly name: string;
  /** `$cluster.labels` in expressions: those of the `Cluster` object now. @default none */
  readonly labels?: Readonly<Record<string, string>>;
  readonly events: EventRecorder;
}

/** Several clusters as one: the cluster of a kind decides where a request goes, and each stored object has its cluster. */
export interface RoutingCluster
  extends Omit<
    Cluster,
    | 'get'
    | 'managedFields'
    | 'apply'
    | 'editMetadata'
    | 'delete'
    | 'acquire'
    | 'resourceFor'
    | 'findKind'
  > {
  get(ref: RefAt, options: WriteOptions, signal: AbortSignal): Promise<StoredObject | undefined>;
  managedFields(
    ref: RefAt,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<readonly ManagedFieldsEntry[]>;
  apply(
    manifest: KubeObject,
    options: ApplyOptions & InCluster,
    signal: AbortSignal,
  ): Promise<ApplyResult>;
  editMetadata(
    ref: RefAt,
    options: EditMetadataOptions,
    signal: AbortSignal,
  ): Promise<StoredObject | undefined>;
  delete(
    ref: RefAt,
    options: DeleteOptions,
    signal: AbortSignal,
  ): Promise<'deleted' | 'deleting' | 'gone'>;
  acquire(query: InformerQuery & { readonly gvk: KindAt }): Informer;
  resourceFor(kind: KindAt): ResourceType | undefined;
  findKind(kind: GroupKindAt, signal: AbortSignal): Promise<ResourceType | undefined>;
}

/** A member cluster that can be used now: it is connected, its identity is confirmed, and it is not paused. */
export interface MemberCluster {
  /** UID of its namespace `kube-system`: the identity of the cluster. */
  readonly uid: string;
  /** Its caches and writes. They end with its cluster runtime; a later connection is another object. */
  readonly cluster: Cluster;
}

/** The member clusters that can be used now. */
export interface MemberClusters {
  /** UID of the namespace `kube-system` of the hub: placed objects carry it, so that two hubs never take one object. */
  readonly hubUid: string;
  /** Undefined: there is no member with this name, or it cannot be used now. */
  get(name: string): MemberCluster | undefined;
  /**
   * Calls the listener with the name of a member when it becomes usable or unusable, also if its connection was
   * replaced. Returns the unsubscribe function.
   */
  onChange(listener: (name: string) => void): () => void;
  /**
   * Called with the function that counts the objects of a definition in a member; undefined: not known now. Returns the
   * function that ends it. @default undefined: they are not counted
   */
  readonly countPlaced?: (definition: string, countIn: PlacedCount) => () => void;
}

/** Number of objects in a member. */
export type PlacedCount = (member: string) => number | undefined;

/** The API server does not respond, or rejects our credentials. */
export interface ServerUnreachable {
  /** `unauthorized`: the credentials are expired, revoked or wrong. */
  readonly kind: 'unreachable' | 'unauthorized';
  /** Time since the first failed attempt, in ms. */
  readonly forMs: number;
}

export {
  type HttpTransport,
  HttpTransportError,
  type HttpTransportErrorCode,
  type IssuedToken,
  largeAnswerBytes,
  type TokenRequests,
  type TransportAnswer,
  type TransportRequest,
  type TransportTls,
} from './outbound/outbound-http.ts';
