import type { Logger, MetricRegistry } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { type Gvk, gvkKey } from '#util/gvk.ts';
import { invariant } from '#util/homeostat-error.ts';
import type { Random } from '#util/random.ts';
import type { PathDiscovery } from '../api/discovery.ts';
import type { ApiClient } from '../client/api-client.ts';
import type { Informer, InformerQuery, RightsWatcher, Watcher } from '../roles.ts';
import type { CacheBudget } from './cache-budget.ts';
import { InformerHandle } from './informer-handle.ts';
import { type ClosableKindNotifier, createKindNotifier } from './kind-notifier.ts';
import { createObjectDecoder } from './object-decoder.ts';
import { type ResolvedQuery, resolveQuery } from './query.ts';
import {
  createInformerMetrics,
  type InformerSettings,
  type ReflectorContext,
  resolveInformerSettings,
} from './reflector-context.ts';
import { ResponseDelivery, type WriteThrough, type WriteTicket } from './response-delivery.ts';
import { SharedInformer } from './shared-informer.ts';

interface InformerSetOptions {
  readonly api: ApiClient;
  readonly discovery: PathDiscovery;
  readonly rights: RightsWatcher;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly settings?: InformerSettings;
  /** See {@link ReflectorContext}. @default no action */
  readonly suspectOutage?: () => void;
  readonly onRollback?: () => void;
  /** Of a cluster that is not trusted: measures its objects. @default undefined: they are not measured */
  readonly budget?: CacheBudget;
}

/** The cache of one cluster: shared informers and write-through of responses. */
export interface InformerSet extends Watcher, WriteThrough {
  /**
   * A handle on the informer of this query. The informer starts with its first handle and stops with its last.
   * @throws RangeError for an invalid selector.
   */
  acquire(query: InformerQuery): Informer;
  /** Discovery has changed: informers of this kind, or all, that wait after a failure retry at once. */
  retryNow(gvk?: Gvk): void;
  /**
   * The CRD of the kind changed: its informers list at once, and again some seconds later, also those that start meanwhile. The lists
   * replace even objects of the same version.
   */
  relist(gvk: Gvk): void;
  /** Updates gauges before a scrape. */
  observe(): void;
  /** Stops every informer. Leaves no timer, connection or listener. */
  close(): Promise<void>;
}

/** Creates the cache of one cluster. */
export function createInformerSet(options: InformerSetOptions): InformerSet {
  return new ReferenceCountedInformers(options);
}

interface Slot {
  readonly shared: SharedInformer;
  uses: number;
  cancelLinger: (() => void) | undefined;
}

class ReferenceCountedInformers implements InformerSet {
  readonly #context: ReflectorContext;
  readonly #slots = new Map<string, Slot>();
  readonly #byKind = new Map<string, Set<SharedInformer>>();
  /** By kind: cancels its second list after a change of its schema. */
  readonly #settling = new Map<string, () => void>();
  /** Resolves when running or stopping informers have ended. */
  readonly #running = new Set<Promise<void>>();
  readonly #kinds: ClosableKindNotifier;
  #isClosed = false;

  constructor(options: InformerSetOptions) {
    const { settings, metrics, suspectOutage = () => {}, onRollback = () => {}, ...rest } = options;
    const { budget } = options;
    const resolved = resolveInformerSettings(settings);
    this.#kinds = createKindNotifier({ ...rest, settings: resolved });
    this.#context = {
      ...rest,
      settings: resolved,
      kinds: this.#kinds,
      metrics: createInformerMetrics(metrics),
      decode: createObjectDecoder({ freeze: resolved.freeze, isForeign: budget !== undefined }),
      suspectOutage,
      onRollback,
      budget,
    };
  }

  acquire(query: InformerQuery): Informer {
    invariant(!this.#isClosed, 'The cache is closed');
    const resolved = resolveQuery(query);
    const slot = this.#slots.get(resolved.key) ?? this.#start(resolved);
    slot.uses += 1;
    slot.cancelLinger?.();
    slot.cancelLinger = undefined;
    return new InformerHandle(slot.shared, () => this.#release(slot));
  }

  begin(gvk: Gvk, namespace: string | undefined, name: string): WriteTicket {
    const informers = [...(this.#byKind.get(gvkKey(gvk)) ?? [])].filter(({ resolved }) => {
      const { query } = resolved;
      const isInNamespace = query.namespace === undefined || query.namespace === namespace;
      return isInNamespace && (resolved.name === undefined || resolved.name === name);
    });
    return new ResponseDelivery({ context: this.#context, gvk, namespace, name, informers });
  }

  retryNow(gvk?: Gvk): void {
    const kinds = gvk === undefined ? this.#byKind.keys() : [gvkKey(gvk)];
    for (const kind of kinds) {
      for (const shared of this.#byKind.get(kind) ?? []) shared.retryNow();
    }
  }

  relist(gvk: Gvk): void {
    if (this.#isClosed) return;
    const kind = gvkKey(gvk);
    const relist = () => {
      this.#settling.delete(kind);
      for (const shared of this.#byKind.get(kind) ?? []) shared.relist();
    };
    this.#settling.get(kind)?.();
    relist();
    // An API server serves the new schema when its own watch of CRDs has shown it. A list from before, with a watch from after that,
    // would keep the objects without their new defaults: these are no events. Kubernetes allows all API servers five seconds, too
    // (for an established CRD).
    const { clock, random, settings } = this.#context;
    const afterMs = settings.schemaSettleMs * (1 + random.fraction());
    this.#settling.set(kind, clock.after(afterMs, relist));
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
    for (const cancel of this.#settling.values()) cancel();
    for (const slot of [...this.#slots.values()]) this.#stop(slot);
    await Promise.all([...this.#running, this.#kinds.close()]);
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
      // Not before: an ending informer still sets the gauge to 0.
      if (!this.#byKind.has(kind)) this.#context.metrics.objects.remove([kind]);
    });
    this.#running.add(end);
    return slot;
  }

  #release(slot: Slot): void {
    slot.uses -= 1;
    if (slot.uses > 0 || this.#isClosed) return;
    const { clock, settings } = this.#context;
    // Informers of single objects are reused often, so they linger. Denied ones are not kept.
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
    if (ofKind?.size === 0) this.#removeKind(kind);
    shared.stop();
  }

  #removeKind(kind: string): void {
    this.#byKind.delete(kind);
    this.#context.metrics.lastActivity.remove([kind]);
  }
}
