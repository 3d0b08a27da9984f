import type { Logger, MetricRegistry } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import type { GroupKind, Gvk } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Random } from '#util/random.ts';
import { type ClosableRightsWatcher, createRightsWatcher } from './access/rights-watcher.ts';
import { type CachedDiscovery, createDiscovery } from './api/discovery.ts';
import { dryRunApply } from './api/dry-run.ts';
import { createOpenApi, type OpenApi } from './api/openapi.ts';
import { createWriter } from './api/writer.ts';
import { CacheBudget } from './cache/cache-budget.ts';
import { createInformerSet, type InformerSet } from './cache/informer-set.ts';
import type { InformerSettings } from './cache/reflector-context.ts';
import type { BudgetShare } from './cache/shared-budget.ts';
import type { ApiClient, ApiRequest } from './client/api-client.ts';
import type { ApiClientOptions, ClosableApiClient } from './client/create-api-client.ts';
import type { ServerAvailability } from './client/server-availability.ts';
import type { ClusterConfig } from './config/cluster-config.ts';
import { type ClosableEventRecorder, createEventRecorder } from './events/event-recorder.ts';
import type {
  AccessRight,
  ApplyOptions,
  ApplyResult,
  Cluster,
  DeleteOptions,
  EditMetadataOptions,
  EventRecorder,
  EventsDenied,
  Informer,
  InformerQuery,
  KindSchema,
  ManagedFieldsEntry,
  ObjectRef,
  Reader,
  ReplaceOptions,
  ResourceType,
  ServerUnreachable,
  StoredObject,
  WriteOptions,
  Writer,
} from './roles.ts';

export interface KubeClusterOptions
  extends Pick<
    ApiClientOptions,
    | 'identity'
    | 'isForeign'
    | 'jsonLimits'
    | 'maxResponseBytes'
    | 'onUnauthorized'
    | 'readRate'
    | 'receipts'
    | 'servers'
  > {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Shared by several clusters of one server, so that outages are logged once. @default not shared */
  readonly availability?: ServerAvailability;
  /** `$cluster.name` in expressions. @default 'hub' */
  readonly name?: string;
  /** Returns `$cluster.labels` in expressions. @default none */
  readonly labels?: () => Readonly<Record<string, string>>;
  /** Maximum requests in flight. Watches and the Lease use separate connections. @default 32 */
  readonly connections?: number;
  /** Schemas that are known without a request to the server, such as those of a simulated server. @default none */
  readonly knownSchema?: (gvk: Gvk) => KindSchema | undefined;
  /** Leader fencing, see `ApiClientOptions.beforeWrite`. @default none */
  readonly beforeWrite?: (request: ApiRequest) => void;
  /** `reportingInstance` of Events, at most 128 bytes. @default 'homeostat', and the name of the host where there is a connection */
  readonly instance?: string;
  /**
   * Called when the cached state is invalid: the server is unreachable, or shows an older state (a restored backup).
   * The caller closes the cluster and creates a new one when the server responds. May be called more than once.
   * @default no action
   */
  readonly onLost?: (why: ClusterLossReason) => void;
  /** Limits of a server that is not trusted. @default undefined: those of a trusted one */
  readonly limits?: ForeignLimits;
  /** Called when what is kept of it exceeds a limit; may be called more than once. The caller closes the cluster. @default no action */
  readonly onExceeded?: (limit: ExceededLimit) => void;
  /** Returns whether Events are sent. Events recorded while it returns false are dropped. @default always */
  readonly shouldSendEvents?: () => boolean;
}

/** `outage`: the server does not respond. `restored`: its state is older than the state it showed before. */
export type ClusterLossReason = 'outage' | 'restored';

/** `own`: that of one server. `together`: that of all servers that are not trusted, of which this one takes most. */
export type ExceededLimit = 'own' | 'together';

/** How much of a server that is not trusted is read, in characters. */
export interface ForeignLimits {
  /** Of a line of a watch. */
  readonly lineLength: number;
  /** Of all cached objects and schemas as JSON, with 64 for each map and list. */
  readonly cacheLength: number;
  /** What it takes of the memory of all servers that are not trusted. @default they have no limit together */
  readonly share?: BudgetShare;
}

/** A cluster with a real API server. */
export interface KubeCluster extends Cluster {
  /** For requests that `Cluster` does not cover: Leases, access reviews, definitions from ConfigMaps. */
  readonly api: ApiClient;
  /**
   * Schemas of a kind from the server's OpenAPI documents. Undefined: unknown, or not published yet (about a second
   * after a CRD is installed).
   * @throws KubeError
   */
  fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined>;
  /**
   * Sends an apply that the API server admits, validates and completes with defaults, but does not store. Caches stay unchanged.
   * @throws KubeError as {@link Cluster.apply}
   */
  dryRunApply(
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult>;
  /** Notifies when the server accepts our credentials again. Returns the unsubscribe function. */
  onAuthenticated(listener: () => void): () => void;
  /** Undefined while the server responds and accepts our credentials. */
  readonly unreachable: ServerUnreachable | undefined;
  /** Undefined until a write of an Event is denied. */
  readonly eventsDenied: EventsDenied | undefined;
  /** Call it when the CRD of a kind was created. Discovery is refreshed, and informers of missing kinds retry. */
  kindCreated(gvk: Gvk): void;
  /**
   * Call it when the CRD of a kind was changed. As {@link kindCreated}, and informers of this kind list again, at once and some seconds
   * later: the API servers apply a new schema at different times, and new defaults are no events.
   */
  kindChanged(gvk: Gvk): void;
  /**
   * Connects to the server and loads discovery. Optional: it reports connection and authentication failures early.
   * @throws KubeError
   */
  start(signal: AbortSignal): Promise<void>;
  /** Updates gauges before a scrape. */
  observe(): void;
  /**
   * Discards unsent data of all writes, kernel buffers included. Otherwise a write that is stuck in a partitioned
   * network is sent when the network recovers, even after the process has ended. Later requests fail. For a process
   * that lost leadership.
   */
  dropPendingWrites(): void;
  /** Closes all connections at once, without waiting for responses. Call {@link close} too. */
  disconnect(): Promise<void>;
  /** Stops informers, flushes Events for at most two seconds, and closes all connections. */
  close(): Promise<void>;
}

/** Creates a cluster with an existing client: same discovery, caches, writes and Events as with a connection. */
export function createClusterOn(
  client: ClosableApiClient,
  options: Omit<KubeClusterOptions, 'config' | 'connections' | 'availability' | 'beforeWrite'>,
): KubeCluster {
  return new ClientCluster(client, options);
}

function budgetOf(
  { cacheLength, share }: ForeignLimits,
  onExceeded: KubeClusterOptions['onExceeded'],
): CacheBudget {
  return new CacheBudget({
    maxLength: cacheLength,
    onExceeded: () => onExceeded?.('own'),
    ...(share && { share }),
  });
}

function settingsOf(
  { lineLength, share }: ForeignLimits,
  jsonLimits: KubeClusterOptions['jsonLimits'],
): InformerSettings {
  return {
    maxLineLength: lineLength,
    ...(jsonLimits && { jsonLimits }),
    ...(share && { onHeld: (length) => share.add(length) }),
  };
}

class ClientCluster implements KubeCluster {
  readonly name: string;
  readonly events: EventRecorder;
  readonly api: ApiClient;
  readonly #labels: KubeClusterOptions['labels'];
  readonly #client: ClosableApiClient;
  readonly #discovery: CachedDiscovery;
  readonly #openApi: OpenApi;
  readonly #knownSchema: ((gvk: Gvk) => KindSchema | undefined) | undefined;
  readonly #informers: InformerSet;
  readonly #writer: Reader & Writer;
  readonly #recorder: ClosableEventRecorder;
  readonly #rights: ClosableRightsWatcher;
  readonly #unsubscribe: () => void;

  constructor(api: ClosableApiClient, options: Parameters<typeof createClusterOn>[1]) {
    const { clock, random, metrics, logger, name = 'hub', labels } = options;
    const { onLost, onExceeded, knownSchema, limits, jsonLimits } = options;
    this.#knownSchema = knownSchema;
    const budget = limits && budgetOf(limits, onExceeded);
    const measured = budget && { budget };
    const discovery = createDiscovery({ api, clock, ...measured });
    this.name = name;
    this.#labels = labels;
    this.api = api;
    this.#client = api;
    this.#discovery = discovery;
    this.#openApi = createOpenApi({ api, clock, ...measured });
    this.#rights = createRightsWatcher({ api, clock, logger });
    const rights = this.#rights;
    this.#informers = createInformerSet({
      api,
      discovery,
      rights,
      clock,
      random,
      logger,
      metrics,
      suspectOutage: () => api.suspectOutage(),
      onRollback: () => onLost?.('restored'),
      ...(limits && { settings: settingsOf(limits, jsonLimits) }),
      ...measured,
    });
    this.#writer = createWriter({ api, discovery, cache: this.#informers });
    const { instance = 'homeostat', shouldSendEvents } = options;
    // Informers with a long retry delay retry at once.
    this.#unsubscribe = api.onAuthenticated(() => this.#informers.retryNow());
    this.#recorder = createEventRecorder({
      api,
      clock,
      random,
      logger,
      metrics,
      instance,
      ...(shouldSendEvents && { isOpen: shouldSendEvents }),
    });
    this.events = this.#recorder;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#labels?.() ?? {};
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#discovery.prime(signal);
  }

  disconnect(): Promise<void> {
    return this.#client.close();
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#rights.close();
    await this.#informers.close();
    await this.#recorder.close();
    await this.#client.close();
  }

  get(
    ref: ObjectRef,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<StoredObject | undefined> {
    return this.#writer.get(ref, options, signal);
  }

  managedFields(
    ref: ObjectRef,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<readonly ManagedFieldsEntry[]> {
    return this.#writer.managedFields(ref, options, signal);
  }

  async apply(
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    const result = await this.#writer.apply(manifest, options, signal);
    // The scope, the status subresource and the versions may have changed.
    if (manifest.kind === 'CustomResourceDefinition') {
      const group = isJsonObject(manifest.spec) ? manifest.spec.group : undefined;
      this.#discovery.invalidate(String(group));
    }
    return result;
  }

  replace(
    manifest: KubeObject,
    options: ReplaceOptions,
    signal: AbortSignal,
  ): Promise<StoredObject> {
    return this.#writer.replace(manifest, options, signal);
  }

  editMetadata(
    ref: ObjectRef,
    options: EditMetadataOptions,
    signal: AbortSignal,
  ): Promise<StoredObject | undefined> {
    return this.#writer.editMetadata(ref, options, signal);
  }

  delete(
    ref: ObjectRef,
    options: DeleteOptions,
    signal: AbortSignal,
  ): Promise<'deleted' | 'deleting' | 'gone'> {
    return this.#writer.delete(ref, options, signal);
  }

  acquire(query: InformerQuery): Informer {
    return this.#informers.acquire(query);
  }

  onGranted(right: AccessRight, listener: () => void): () => void {
    return this.#rights.onGranted(right, listener);
  }

  resourceFor(gvk: Gvk): ResourceType | undefined {
    return this.#discovery.resourceFor(gvk);
  }

  lookUp(gvk: Gvk, signal: AbortSignal): Promise<ResourceType | undefined> {
    return this.#discovery.lookUp(gvk, signal);
  }

  findKind(kind: GroupKind, signal: AbortSignal): Promise<ResourceType | undefined> {
    return this.#discovery.findKind(kind, signal);
  }

  dropPendingWrites(): void {
    this.#client.dropPendingWrites();
  }

  observe(): void {
    this.#informers.observe();
  }

  onAuthenticated(listener: () => void): () => void {
    return this.#client.onAuthenticated(listener);
  }

  get unreachable(): ServerUnreachable | undefined {
    return this.#client.unreachable;
  }

  get eventsDenied(): EventsDenied | undefined {
    return this.#recorder.denied;
  }

  kindCreated(gvk: Gvk): void {
    this.#discovery.invalidate(gvk.group);
    this.#informers.retryNow();
  }

  kindChanged(gvk: Gvk): void {
    this.kindCreated(gvk);
    this.#informers.relist(gvk);
  }

  dryRunApply(
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    const where = { api: this.api, discovery: this.#discovery };
    return dryRunApply(where, { manifest, options }, signal);
  }

  async fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined> {
    return this.#knownSchema?.(gvk) ?? this.#openApi.fetchKindSchema(gvk, signal);
  }
}
