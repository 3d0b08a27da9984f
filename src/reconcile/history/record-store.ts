import type { HistoryEntry } from '../../compile/index.ts';
import type { CacheEvent, Informer, InformerState } from '../../kube/roles.ts';
import { type Gvk, groupKindKey, gvkOf } from '../../util/gvk.ts';
import { keyOf } from '../../util/kube-object.ts';
import { recordedByLabel } from '../names.ts';
import type { HistoryRecorderOptions } from './history-recorder.ts';
import { parseRecord, type StateRecord } from './record.ts';

/** What a store notifies of. */
interface StoreEvents {
  /** Called with the UID of a resource whose records changed, apart from the first list. */
  readonly onChange: (ownerUid: string) => void;
  /** Called when a newest record or its deletion mark is lost: others removed it, or etcd was restored from a backup. */
  readonly onLost: (series: string) => void;
  readonly onState: () => void;
}

/** Count and size of records. */
export interface RecordUsage {
  readonly count: number;
  readonly sizeBytes: number;
}

const noUsage: RecordUsage = { count: 0, sizeBytes: 0 };
const noRecords: readonly StateRecord[] = [];

/** The records of one object. */
interface Series {
  /** Sorted by version. */
  readonly records: StateRecord[];
  /** Undefined: they have changed since they were listed. */
  entries: readonly HistoryEntry[] | undefined;
}

/** The records of one resource. */
class OwnerRecords {
  readonly series = new Map<string, Series>();
  usage = noUsage;
  /** Sorted by place. Undefined: there is another object. */
  sorted: readonly Series[] | undefined;
  /** Undefined: records have changed. */
  entries: readonly HistoryEntry[] | undefined;
}

/** All records of a definition, from one watch for each kind that stores them. */
export class RecordStore {
  readonly informers: readonly Informer[];
  readonly #options: HistoryRecorderOptions;
  readonly #events: StoreEvents;
  /** Kinds of the reads that keep versions, by id. */
  readonly #kinds: ReadonlyMap<string, string>;
  readonly #owners = new Map<string, OwnerRecords>();
  /** By kind and key of the ControllerRevision or Secret. */
  readonly #byKey = new Map<string, StateRecord>();
  readonly #stops: readonly (() => void)[];
  #usage = noUsage;

  constructor(options: HistoryRecorderOptions, events: StoreEvents) {
    this.#options = options;
    this.#events = events;
    const { plan, history, cluster } = options;
    this.#kinds = new Map(
      plan.reads.flatMap((read) => (read.history ? [[read.id, groupKindKey(read.gvk)]] : [])),
    );
    this.informers = history.recordKinds.map((gvk) =>
      cluster.acquire({ gvk, labelSelector: `${recordedByLabel}=${plan.name}` }),
    );
    this.#stops = this.informers.flatMap((informer) => [
      informer.subscribe((event) => this.#onEvent(informer.query.gvk, event)),
      informer.onState(events.onState),
    ]);
  }

  /** Records are never treated as missing before they have been listed. */
  get state(): InformerState {
    const states = this.informers.map(({ state }) => state);
    return states.find(({ kind }) => kind !== 'synced') ?? { kind: 'synced' };
  }

  /** Usage of all resources. */
  get usage(): RecordUsage {
    return this.#usage;
  }

  usageOf(ownerUid: string): RecordUsage {
    return this.#owners.get(ownerUid)?.usage ?? noUsage;
  }

  /** The records of one object, sorted by version. */
  recordsOf(ownerUid: string, series: string): readonly StateRecord[] {
    return this.#owners.get(ownerUid)?.series.get(series)?.records ?? noRecords;
  }

  /** The records of a resource, by object, each sorted by version. */
  *seriesOf(ownerUid: string): Iterable<readonly StateRecord[]> {
    for (const { records } of this.#owners.get(ownerUid)?.series.values() ?? []) yield records;
  }

  /** All records by object. */
  *allSeries(): Iterable<readonly StateRecord[]> {
    for (const uid of this.#owners.keys()) yield* this.seriesOf(uid);
  }

  /** `history` in expressions of a resource: the same list until its records change, and the same entries of objects that do not. */
  entriesOf(ownerUid: string): readonly HistoryEntry[] {
    const owner = this.#owners.get(ownerUid);
    if (owner === undefined) return [];
    owner.sorted ??= [...owner.series.values()].sort(byPlace);
    owner.entries ??= Object.freeze(owner.sorted.flatMap((series) => this.#listed(series)));
    return owner.entries;
  }

  /** Whether the definition still keeps versions of what was recorded. */
  isKept({ readId, object }: StateRecord): boolean {
    return this.#kinds.get(readId) === groupKindKey(gvkOf(object.apiVersion, object.kind));
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    for (const informer of this.informers) informer.release();
  }

  /** The newest record of an object that exists is its current state. */
  #listed(series: Series): readonly HistoryEntry[] {
    if (series.entries !== undefined) return series.entries;
    const { records } = series;
    const newest = records.at(-1);
    const isListed = newest !== undefined && this.isKept(newest);
    const listed = newest?.deletedAt === undefined ? records.slice(0, -1) : records;
    series.entries = isListed ? listed.map(entryOf) : [];
    return series.entries;
  }

  #onEvent(gvk: Gvk, { namespace, name, current, initial }: CacheEvent): void {
    const key = `${gvk.kind} ${keyOf(namespace, name)}`;
    const before = this.#byKey.get(key);
    const { plan, clusterNamespace } = this.#options;
    const after = current && parseRecord(current, plan.name, clusterNamespace);
    const isLost = before !== undefined && this.#isNewest(before) && !isAsComplete(after, before);
    if (before !== undefined) this.#remove(key, before);
    if (after !== undefined) this.#add(key, after);
    if (initial) return;
    if (isLost) this.#events.onLost(before.series);
    for (const uid of new Set([before?.ownerUid, after?.ownerUid]))
      if (uid !== undefined) this.#events.onChange(uid);
  }

  #isNewest({ ownerUid, series, version }: StateRecord): boolean {
    return this.recordsOf(ownerUid, series).at(-1)?.version === version;
  }

  #add(key: string, record: StateRecord): void {
    this.#byKey.set(key, record);
    const owner = this.#owners.get(record.ownerUid) ?? new OwnerRecords();
    this.#owners.set(record.ownerUid, owner);
    let series = owner.series.get(record.series);
    if (series === undefined) {
      series = { records: [], entries: undefined };
      owner.series.set(record.series, series);
      owner.sorted = undefined;
    }
    const { records } = series;
    const at = records.findIndex(({ version }) => version > record.version);
    records.splice(at < 0 ? records.length : at, 0, record);
    series.entries = undefined;
    this.#count(owner, 1, record.sizeBytes);
  }

  #remove(key: string, record: StateRecord): void {
    this.#byKey.delete(key);
    const owner = this.#owners.get(record.ownerUid);
    const series = owner?.series.get(record.series);
    if (owner === undefined || series === undefined) return;
    const { records } = series;
    records.splice(records.indexOf(record), 1);
    series.entries = undefined;
    if (records.length === 0) {
      owner.series.delete(record.series);
      owner.sorted = undefined;
    }
    this.#count(owner, -1, -record.sizeBytes);
    if (owner.series.size === 0) this.#owners.delete(record.ownerUid);
  }

  #count(owner: OwnerRecords, count: number, sizeBytes: number): void {
    owner.entries = undefined;
    owner.usage = added(owner.usage, count, sizeBytes);
    this.#usage = added(this.#usage, count, sizeBytes);
  }
}

function isAsComplete(after: StateRecord | undefined, before: StateRecord): boolean {
  return after !== undefined && (before.deletedAt === undefined || after.deletedAt !== undefined);
}

function added(usage: RecordUsage, count: number, sizeBytes: number): RecordUsage {
  return { count: usage.count + count, sizeBytes: usage.sizeBytes + sizeBytes };
}

function entryOf(record: StateRecord): HistoryEntry {
  const { readId: read, object, namespace, name, version, recordedAt: time, deletedAt } = record;
  return Object.freeze({
    read,
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    version,
    time,
    reason: deletedAt === undefined ? 'Changed' : 'Deleted',
    object,
  });
}

function byPlace({ records: [a] }: Series, { records: [b] }: Series): number {
  if (a === undefined || b === undefined) return 0;
  return (
    compare(a.readId, b.readId) ||
    compare(a.namespace ?? '', b.namespace ?? '') ||
    compare(a.name, b.name)
  );
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
