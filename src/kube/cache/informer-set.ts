import type { Logger, MetricRegistry } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { type Gvk, gvkKey } from '../../util/gvk.ts';
import { invariant } from '../../util/invariant.ts';
import type { Random } from '../../util/random.ts';
import type { PathDiscovery } from '../api/discovery.ts';
import type { ApiClient } from '../client/api-client.ts';
import type { Informer, InformerQuery, RightsWatch, Watcher } from '../roles.ts';
import { AnswerDelivery } from './answer-delivery.ts';
import { createInformerMetrics } from './informer-metrics.ts';
import { type InformerSettings, resolveInformerSettings } from './informer-settings.ts';
import { InformerUse } from './informer-use.ts';
import { createIngest } from './ingest.ts';
import { type ClosableKindArrivals, createKindArrivals } from './kind-arrivals.ts';
import { type ResolvedQuery, resolveQuery } from './query.ts';
import type { ReflectorContext } from './reflector-context.ts';
import { SharedInformer } from './shared-informer.ts';
import type { WriteThrough, WriteTicket } from './write-through.ts';

export interface InformerSetOptions {
  readonly api: ApiClient;
  readonly discovery: PathDiscovery;
  readonly rights: RightsWatch;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly settings?: InformerSettings;
  /** See {@link ReflectorContext}. @default nothing is done */
  readonly suspectOutage?: () => void;
  readonly onWentBack?: () => void;
}

/** The cache of one cluster: shared informers, and the door through which the answers of our requests enter them. */
export interface InformerSet extends Watcher, WriteThrough {
  /**
   * A use of the informer for this query, which starts with its first use and stops with its last.
   * @throws RangeError for a selector that cannot be read.
   */
  acquire(query: InformerQuery): Informer;
  /** Discovery found something new: informers that wait after a failure try again at once. Of one kind, or of all. */
  retryNow(gvk?: Gvk): void;
  /** The CRD of the kind changed: its informers list anew, and the list replaces even what has its version. */
  relist(gvk: Gvk): void;
  /** Brings gauges up to date, for a scrape. */
  observe(): void;
  /** Stops every informer. Afterwards no timer, connection or listener of the cache is left. */
  close(): Promise<void>;
}

/** Makes the cache of one cluster. */
export function createInformerSet(options: InformerSetOptions): InformerSet {
  return new UseCountedInformers(options);
}

interface Slot {
  readonly shared: SharedInformer;
  uses: number;
  cancelLinger: (() => void) | undefined;
}

class UseCountedInformers implements InformerSet {
  readonly #context: ReflectorContext;
  readonly #slots = new Map<string, Slot>();
  readonly #byKind = new Map<string, Set<SharedInformer>>();
  /** Ends of the informers that run or are just stopping. */
  readonly #running = new Set<Promise<void>>();
  readonly #arrivals: ClosableKindArrivals;
  #isClosed = false;

  constructor(options: InformerSetOptions) {
    const { settings, metrics, suspectOutage = () => {}, onWentBack = () => {}, ...rest } = options;
    const resolved = resolveInformerSettings(settings);
    this.#arrivals = createKindArrivals({ ...rest, settings: resolved });
    this.#context = {
      ...rest,
      settings: resolved,
      arrivals: this.#arrivals,
      metrics: createInformerMetrics(metrics),
      ingest: createIngest({ freeze: resolved.freeze }),
      suspectOutage,
      onWentBack,
    };
  }

  acquire(query: InformerQuery): Informer {
    invariant(!this.#isClosed, 'No informer is acquired after the cache was closed');
    const resolved = resolveQuery(query);
    const slot = this.#slots.get(resolved.key) ?? this.#start(resolved);
    slot.uses += 1;
    slot.cancelLinger?.();
    slot.cancelLinger = undefined;
    return new InformerUse(slot.shared, () => this.#release(slot));
  }

  begin(gvk: Gvk, namespace: string | undefined, name: string): WriteTicket {
    const informers = [...(this.#byKind.get(gvkKey(gvk)) ?? [])].filter(({ resolved }) => {
      const { query } = resolved;
      const isInNamespace = query.namespace === undefined || query.namespace === namespace;
      return isInNamespace && (resolved.name === undefined || resolved.name === name);
    });
    return new AnswerDelivery({ context: this.#context, gvk, namespace, name, informers });
  }

  retryNow(gvk?: Gvk): void {
    const kinds = gvk === undefined ? this.#byKind.keys() : [gvkKey(gvk)];
    for (const kind of kinds) {
      for (const shared of this.#byKind.get(kind) ?? []) shared.retryNow();
    }
  }

  relist(gvk: Gvk): void {
    for (const shared of this.#byKind.get(gvkKey(gvk)) ?? []) shared.relist();
  }

  observe(): void {
    const { clock, metrics } = this.#context;
    const nowMs = clock.monotonicMs();
    for (const [kind, informers] of this.#byKind) {
      const oldestMs = Math.min(...[...informers].map(({ lastActivityMs }) => lastActivityMs));
      metrics.lastActivity.set((nowMs - oldestMs) / 1_000, [kind]);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const slot of [...this.#slots.values()]) this.#stop(slot);
    await Promise.all([...this.#running, this.#arrivals.close()]);
  }

  #start(resolved: ResolvedQuery): Slot {
    const shared = new SharedInformer(resolved, this.#context);
    const slot: Slot = { shared, uses: 0, cancelLinger: undefined };
    this.#slots.set(resolved.key, slot);
    const kind = gvkKey(resolved.query.gvk);
    const ofKind = this.#byKind.get(kind) ?? new Set();
    this.#byKind.set(kind, ofKind.add(shared));
    this.#context.metrics.begin(kind);
    const end = shared.run().finally(() => {
      this.#running.delete(end);
      // Only now: an informer that ends still says that it holds nothing.
      if (!this.#byKind.has(kind)) this.#context.metrics.objects.remove([kind]);
    });
    this.#running.add(end);
    return slot;
  }

  #release(slot: Slot): void {
    slot.uses -= 1;
    if (slot.uses > 0 || this.#isClosed) return;
    const { clock, settings } = this.#context;
    // Single objects come and go with the resources that read them; what was refused is not worth keeping.
    const { state, resolved } = slot.shared;
    const isDenied = state.kind === 'failing' && state.error.right !== undefined;
    if (resolved.name === undefined || isDenied) this.#stop(slot);
    else slot.cancelLinger = clock.after(settings.lingerMs, () => this.#stop(slot));
  }

  #stop(slot: Slot): void {
    const { shared } = slot;
    slot.cancelLinger?.();
    slot.cancelLinger = undefined;
    this.#slots.delete(shared.resolved.key);
    const kind = gvkKey(shared.resolved.query.gvk);
    const ofKind = this.#byKind.get(kind);
    ofKind?.delete(shared);
    if (ofKind?.size === 0) this.#forgetKind(kind);
    shared.stop();
  }

  #forgetKind(kind: string): void {
    this.#byKind.delete(kind);
    this.#context.metrics.lastActivity.remove([kind]);
  }
}
