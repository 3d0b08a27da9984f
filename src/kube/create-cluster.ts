import { hostname } from 'node:os';
import type { Logger, MetricRegistry } from '../telemetry/roles.ts';
import type { Clock } from '../util/clock.ts';
import type { GroupKind, Gvk } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import type { Random } from '../util/random.ts';
import { type ClosableRightsWatch, createRightsWatch } from './access/rights-watch.ts';
import { type CachedDiscovery, createDiscovery } from './api/discovery.ts';
import { createOpenApi, type OpenApi } from './api/openapi.ts';
import { createWriter } from './api/writer.ts';
import { createInformerSet, type InformerSet } from './cache/index.ts';
import type { ApiClient, ApiRequest } from './client/api-client.ts';
import { type ClosableApiClient, createApiClient } from './client/create-api-client.ts';
import type { ServerContact } from './client/server-contact.ts';
import type { ClusterConfig } from './config/cluster-config.ts';
import { type ClosableEventRecorder, createEventRecorder } from './events/event-recorder.ts';
import type {
  AccessRight,
  ApplyOptions,
  ApplyResult,
  Cluster,
  DeleteOptions,
  EditOptions,
  EventRecorder,
  EventsRefused,
  FieldOwner,
  Informer,
  InformerQuery,
  KindSchema,
  ObjectRef,
  Reader,
  ResourceType,
  StoredObject,
  WriteOptions,
  Writer,
} from './roles.ts';
import type { ServerSilence } from './server-silence.ts';

export interface KubeClusterOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Of several clusters of one server: what the log says of it is said once. @default one of its own */
  readonly contact?: ServerContact;
  /** `$cluster` in expressions. @default 'default' */
  readonly name?: string;
  /** Requests in flight at most; watches and the lease have connections of their own. @default 32 */
  readonly connections?: number;
  /** The leader's fence, see `ApiClientOptions.beforeWrite`. @default none */
  readonly beforeWrite?: (request: ApiRequest) => void;
  /** Who reports Events, at most 128 bytes. @default 'homeostat-<host name>' */
  readonly instance?: string;
  /**
   * Called when what the cluster knows is worth nothing any more: the server is away, or shows a state from before (a restored backup).
   * What is made of it is to be closed, and made anew when the server is there. May be called more than once. @default nothing is done
   */
  readonly onLost?: (why: ClusterLoss) => void;
  /** Are Events sent? What is recorded while they are not is never sent. @default always */
  readonly tellsEvents?: () => boolean;
}

/** `outage`: the server does not answer. `restored`: it has a state that is older than what it has shown. */
export type ClusterLoss = 'outage' | 'restored';

/** A cluster behind a real API server. */
export interface KubeCluster extends Cluster {
  /** For requests that no role covers: leases, access reviews, definitions from ConfigMaps. */
  readonly api: ApiClient;
  /**
   * Schemas of a kind, from the server's OpenAPI documents. Undefined: not known, or not yet (about a second after a
   * CRD was installed).
   * @throws KubeError
   */
  fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined>;
  /** Calls back whenever a server that had not accepted our credentials does again. Returns the unsubscribe function. */
  onAdmitted(listener: () => void): () => void;
  /** Undefined while the server answers and lets us in. */
  readonly silence: ServerSilence | undefined;
  /** Undefined while Events are taken, or nobody has tried to write any. */
  readonly eventsRefused: EventsRefused | undefined;
  /**
   * To be called when the CRD of a kind was installed or changed: discovery asks again, informers that wait for a kind try at
   * once, and those of this kind list anew (a watch opened earlier goes on delivering objects pruned by the old schema).
   */
  kindChanged(gvk: Gvk): void;
  /**
   * Reaches the server for the first time and reads what it serves. Not needed before other calls, but it tells early
   * that there is no server or no way in.
   * @throws KubeError
   */
  start(signal: AbortSignal): Promise<void>;
  /** Brings gauges up to date, for a scrape. */
  observe(): void;
  /**
   * Drops at once what is still to be sent of any write, in buffers of the kernel too: without it, what is on its way through a network
   * that is cut is sent when that comes back, also when the process has ended. Later requests fail. For who may write no more.
   */
  cutWrites(): void;
  /** Cuts all connections at once: the server is away, and what waits for an answer gets none. {@link close} it as well. */
  abandon(): Promise<void>;
  /** Ends informers, sends what Events are left for at most two seconds, cuts all connections. */
  close(): Promise<void>;
}

/** Puts a cluster together. Nothing is sent before it is used. */
export function createKubeCluster(options: KubeClusterOptions): KubeCluster {
  return new UndiciCluster(options);
}

class UndiciCluster implements KubeCluster {
  readonly name: string;
  readonly events: EventRecorder;
  readonly api: ApiClient;
  readonly #client: ClosableApiClient;
  readonly #discovery: CachedDiscovery;
  readonly #openApi: OpenApi;
  readonly #informers: InformerSet;
  readonly #writer: Reader & Writer;
  readonly #recorder: ClosableEventRecorder;
  readonly #rights: ClosableRightsWatch;
  readonly #unsubscribe: () => void;

  constructor(options: KubeClusterOptions) {
    const { clock, random, metrics, logger, name = 'default' } = options;
    const { onLost } = options;
    const api = createApiClient({
      ...options,
      ...(onLost && { onOutage: () => onLost('outage') }),
    });
    const discovery = createDiscovery({ api, clock });
    this.name = name;
    this.api = api;
    this.#client = api;
    this.#discovery = discovery;
    this.#openApi = createOpenApi({ api, clock });
    this.#rights = createRightsWatch({ api, clock, logger });
    const rights = this.#rights;
    this.#informers = createInformerSet({
      ...{ api, discovery, rights, clock, random, logger, metrics },
      suspectOutage: () => api.suspectOutage(),
      onWentBack: () => onLost?.('restored'),
    });
    this.#writer = createWriter({ api, discovery, cache: this.#informers });
    const { instance = `homeostat-${hostname()}`, tellsEvents } = options;
    // Whoever asks only now and then need not wait for that.
    this.#unsubscribe = api.onAdmitted(() => this.#informers.retryNow());
    this.#recorder = createEventRecorder({
      api,
      clock,
      random,
      logger,
      metrics,
      instance,
      ...(tellsEvents && { isOpen: tellsEvents }),
    });
    this.events = this.#recorder;
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#discovery.prime(signal);
  }

  abandon(): Promise<void> {
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

  fieldOwners(
    ref: ObjectRef,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<readonly FieldOwner[]> {
    return this.#writer.fieldOwners(ref, options, signal);
  }

  async apply(
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    const result = await this.#writer.apply(manifest, options, signal);
    // Scope, status and versions may have changed with it.
    if (manifest.kind === 'CustomResourceDefinition') this.#discovery.invalidate();
    return result;
  }

  editMetadata(
    ref: ObjectRef,
    options: EditOptions,
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

  cutWrites(): void {
    this.#client.cutWrites();
  }

  observe(): void {
    this.#informers.observe();
  }

  onAdmitted(listener: () => void): () => void {
    return this.#client.onAdmitted(listener);
  }

  get silence(): ServerSilence | undefined {
    return this.#client.silence;
  }

  get eventsRefused(): EventsRefused | undefined {
    return this.#recorder.refused;
  }

  kindChanged(gvk: Gvk): void {
    this.#discovery.invalidate();
    this.#informers.relist(gvk);
    this.#informers.retryNow();
  }

  fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined> {
    return this.#openApi.fetchKindSchema(gvk, signal);
  }
}
