import type { Clock } from '#util/clock.ts';
import type { GroupKind } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { pause } from '#util/pause.ts';
import type { ConsoleBackend, ConsoleInfo, QueueDepths, ResourceRef } from '../contract.ts';
import { type ObjectSummary, summaryOf } from '../model/object-summary.ts';
import { Detail, type DetailNeed, type DetailState } from './detail.ts';
import { followStream } from './follow-stream.ts';
import {
  collectionPath,
  findKind,
  type KindIndex,
  loadKinds,
  type ServedKind,
} from './kind-index.ts';
import { type ListState, ObjectList } from './object-list.ts';
import { RecordFeed, type RecordsState } from './record-feed.ts';

/** A collection that a page shows. */
export interface ListNeed {
  readonly kind: GroupKind;
  /** @default all namespaces */
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** What the open page needs. */
export interface Needs {
  readonly lists: readonly ListNeed[];
  readonly details: readonly DetailNeed[];
  readonly records: readonly ResourceRef[];
  /** Whether it shows the work queues. @default false */
  readonly queues?: boolean;
}

export interface ConsoleStoreOptions {
  readonly backend: ConsoleBackend;
  readonly clock: Clock;
  /** Called after each change, at most once until {@link schedule} runs the callback. */
  readonly onChange: () => void;
}

interface Followed<Value> {
  readonly value: Value;
  readonly stop: () => void;
}

const loading: ListState = { status: 'loading', message: '', objects: [] };
const noRecords: RecordsState = { records: [], problem: '' };
const kindRetryMs = 2_000;

/**
 * What is known of the cluster. It follows exactly what the open page needs: one list and one watch for each collection, shared by all that
 * ask for it.
 */
export class ConsoleStore {
  readonly #options: ConsoleStoreOptions;
  readonly #stopper = new AbortController();
  readonly #lists = new Map<string, Followed<ObjectList>>();
  readonly #details = new Map<string, Followed<Detail>>();
  readonly #feeds = new Map<string, Followed<RecordFeed>>();
  /** By object: a changed object is another one. */
  readonly #summaries = new WeakMap<KubeObject, ObjectSummary>();
  #queues: Followed<QueueDepths | undefined> | undefined;
  #kinds: KindIndex | undefined;
  #info: ConsoleInfo | undefined;
  #error: unknown;
  #isLoadingKinds = false;

  constructor(options: ConsoleStoreOptions) {
    this.#options = options;
  }

  /** Undefined: not connected yet. */
  get info(): ConsoleInfo | undefined {
    return this.#info;
  }

  /** Why it is not connected. */
  get error(): unknown {
    return this.#error;
  }

  get kinds(): KindIndex | undefined {
    return this.#kinds;
  }

  /** Connects, and tries again until it succeeds. */
  async start(): Promise<void> {
    const { backend, clock, onChange } = this.#options;
    const { signal } = this.#stopper;
    while (this.#info === undefined && !signal.aborted) {
      try {
        const [kinds, info] = await Promise.all([loadKinds(backend, signal), backend.info(signal)]);
        this.#kinds = kinds;
        this.#info = info;
        this.#error = undefined;
      } catch (error) {
        this.#error = error;
      }
      onChange();
      if (this.#info === undefined) await pause(clock, kindRetryMs, signal);
    }
  }

  stop(): void {
    this.#stopper.abort();
    this.#queues?.stop();
    for (const followed of [this.#lists, this.#details, this.#feeds])
      for (const { stop } of followed.values()) stop();
  }

  /** Follows what a page needs, and nothing else. */
  follow({ lists, details, records, queues = false }: Needs): void {
    this.#followLists(lists);
    const wanted = new Set(details.map(({ key }) => key));
    drop(this.#details, wanted);
    for (const need of details) {
      let followed = this.#details.get(need.key);
      if (followed === undefined) {
        const detail = new Detail(this.#options.onChange);
        followed = { value: detail, stop: () => detail.stop() };
        this.#details.set(need.key, followed);
      }
      followed.value.need(need);
    }
    drop(this.#feeds, new Set(records.map(refKey)));
    for (const resource of records) this.#followRecords(resource);
    this.#followQueues(queues);
  }

  list(need: ListNeed): ListState {
    if (this.#kinds === undefined) return loading;
    if (findKind(this.#kinds, need.kind) === undefined)
      return {
        status: 'missing',
        message: `The API server does not serve ${need.kind.kind}${need.kind.group === '' ? '' : ` of ${need.kind.group}`}`,
        objects: [],
      };
    return this.#lists.get(listKey(need))?.value.state ?? loading;
  }

  /** Whether an object of a list changed a moment ago. */
  isChanged(need: ListNeed, uid: string | undefined): boolean {
    return this.#lists.get(listKey(need))?.value.isChanged(uid) === true;
  }

  detail<Value>(key: string): DetailState<Value> {
    const state = this.#details.get(key)?.value.state ?? { isLoading: true };
    return state as DetailState<Value>;
  }

  records(resource: ResourceRef): RecordsState {
    return this.#feeds.get(refKey(resource))?.value.state ?? noRecords;
  }

  /** Resources that wait for a reconcile, by definition. Undefined: not known. */
  get queues(): QueueDepths | undefined {
    return this.#queues?.value;
  }

  /** The state of an object. Computed once for each version of it. */
  summaryOf(object: KubeObject): ObjectSummary {
    let summary = this.#summaries.get(object);
    if (summary === undefined) {
      summary = summaryOf(object);
      this.#summaries.set(object, summary);
    }
    return summary;
  }

  kindOf(kind: GroupKind): ServedKind | undefined {
    return this.#kinds === undefined ? undefined : findKind(this.#kinds, kind);
  }

  #followLists(needs: readonly ListNeed[]): void {
    const kinds = this.#kinds;
    if (kinds === undefined) return;
    const wanted = new Map<string, { need: ListNeed; kind: ServedKind }>();
    let isMissing = false;
    for (const need of needs) {
      const kind = findKind(kinds, need.kind);
      if (kind === undefined) isMissing = true;
      else wanted.set(listKey(need), { need, kind });
    }
    drop(this.#lists, new Set(wanted.keys()));
    for (const [key, { need, kind }] of wanted)
      if (!this.#lists.has(key)) this.#lists.set(key, this.#startList(need, kind));
    // The CRD of a new definition is installed a moment after its object is there.
    if (isMissing) void this.#reloadKinds();
  }

  #startList(
    { namespace, fieldSelector, labelSelector }: ListNeed,
    kind: ServedKind,
  ): Followed<ObjectList> {
    const { backend, clock, onChange } = this.#options;
    const list = new ObjectList({
      backend,
      clock,
      onChange,
      path: collectionPath(kind, namespace),
      query: {
        ...(fieldSelector !== undefined && { fieldSelector }),
        ...(labelSelector !== undefined && { labelSelector }),
      },
    });
    return { value: list, stop: this.#start((signal) => list.run(signal)) };
  }

  #followRecords(resource: ResourceRef): void {
    const key = refKey(resource);
    if (this.#feeds.has(key)) return;
    const { backend, clock, onChange } = this.#options;
    const feed = new RecordFeed({ backend, clock, resource, onChange });
    this.#feeds.set(key, { value: feed, stop: this.#start((signal) => feed.run(signal)) });
  }

  #followQueues(isNeeded: boolean): void {
    if (isNeeded === (this.#queues !== undefined)) return;
    if (!isNeeded) {
      this.#queues?.stop();
      this.#queues = undefined;
      return;
    }
    const { backend, clock, onChange } = this.#options;
    const followed: { value: QueueDepths | undefined; stop: () => void } = {
      value: undefined,
      stop: () => undefined,
    };
    const set = (depths: QueueDepths | undefined) => {
      followed.value = depths;
      onChange();
    };
    this.#queues = followed;
    followed.stop = this.#start((signal) =>
      followStream(
        {
          clock,
          open: (aborted) => backend.queues(aborted),
          onValue: set,
          onError: () => set(undefined),
        },
        signal,
      ),
    );
  }

  #start(run: (signal: AbortSignal) => Promise<void>): () => void {
    const stopper = new AbortController();
    void run(stopper.signal);
    return () => stopper.abort();
  }

  async #reloadKinds(): Promise<void> {
    if (this.#isLoadingKinds) return;
    this.#isLoadingKinds = true;
    const { backend, clock, onChange } = this.#options;
    const { signal } = this.#stopper;
    await pause(clock, kindRetryMs, signal);
    try {
      if (!signal.aborted) this.#kinds = await loadKinds(backend, signal);
    } catch {
      // The next page that needs the kind tries again.
    }
    this.#isLoadingKinds = false;
    if (!signal.aborted) onChange();
  }
}

function drop<Value>(followed: Map<string, Followed<Value>>, wanted: ReadonlySet<string>): void {
  for (const [key, { stop }] of followed) {
    if (wanted.has(key)) continue;
    followed.delete(key);
    stop();
  }
}

function listKey({ kind, namespace, fieldSelector, labelSelector }: ListNeed): string {
  return [kind.group, kind.kind, namespace ?? '', fieldSelector ?? '', labelSelector ?? ''].join(
    '|',
  );
}

function refKey({ apiVersion, kind, namespace, name }: ResourceRef): string {
  return [apiVersion, kind, namespace ?? '', name].join('|');
}
