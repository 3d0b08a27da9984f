import type { HistoryEntry, OperatorPlan } from '#compile';
import type { CacheEvent, Informer, InformerState, StoredObject } from '#kube/roles.ts';
import { type Gvk, groupKindKey, gvkOf } from '#util/gvk.ts';
import { keyOf, parseKey } from '#util/kube-object.ts';
import { recordedByLabel } from '#util/stored-names.ts';
import { IgnoredRecords } from './ignored-records.ts';
import { parseRecord, type StateRecord } from './record.ts';
import { RecordKeys } from './record-keys.ts';
import { authenticityOf, deletedAtOf, type KeyRing, OwnSignatures } from './record-signature.ts';
import type { HistoryRecorderOptions } from './recorder-options.ts';

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
  /** Undefined: they have changed since they were listed for {@link OwnerRecords.plan}. */
  entries: readonly HistoryEntry[] | undefined;
}

/** The watch on the records of one kind. */
interface RecordWatch {
  readonly informer: Informer;
  readonly stops: (() => void)[];
  /** Number of revisions that need it. */
  users: number;
}

/** The records of one resource. */
class OwnerRecords {
  readonly series = new Map<string, Series>();
  /** By namespace of the records. */
  readonly usage = new Map<string, RecordUsage>();
  /** The resource does not exist any more: its records are being deleted, and do not count. */
  isGone = false;
  /** Sorted by place. Undefined: there is another object. */
  sorted: readonly Series[] | undefined;
  /** Undefined: records have changed. */
  entries: readonly HistoryEntry[] | undefined;
  /** The revision for which they are listed. */
  plan: OperatorPlan | undefined;
}

/**
 * All records of a definition, from one watch for each kind that stores them. Only records that the runtime has signed exist; each is
 * verified once, when it is read.
 */
export class RecordStore {
  readonly keys: RecordKeys;
  /** What looks like a record, and is not authentic. */
  readonly ignored = new IgnoredRecords();
  /** What this process has signed and not read yet. */
  readonly own = new OwnSignatures();
  readonly #options: HistoryRecorderOptions;
  readonly #events: StoreEvents;
  /** By kind of the records. */
  readonly #watches = new Map<string, RecordWatch>();
  readonly #owners = new Map<string, OwnerRecords>();
  /** By kind and key of the ControllerRevision or Secret. */
  readonly #byKey = new Map<string, StateRecord>();
  /** By namespace of the records. */
  readonly #usageIn = new Map<string, RecordUsage>();
  #usage = noUsage;
  /** The keys with which the records were verified. */
  #ring: KeyRing | undefined;

  constructor(options: HistoryRecorderOptions, events: StoreEvents) {
    this.#options = options;
    this.#events = events;
    const { cluster, definition, clock, random, keysNamespace, isReadOnly } = options;
    const keyOptions = { cluster, clock, random, isReadOnly, definition };
    this.keys = new RecordKeys({ ...keyOptions, namespace: keysNamespace }, () => this.#onKeys());
  }

  /** Watches the records of these kinds, until each was released as often as it was watched. */
  watch(kinds: readonly Gvk[]): void {
    for (const gvk of kinds) {
      const known = this.#watches.get(gvk.kind);
      if (known === undefined) this.#watches.set(gvk.kind, this.#acquire(gvk));
      else known.users += 1;
    }
  }

  release(kinds: readonly Gvk[]): void {
    for (const { kind } of kinds) {
      const watch = this.#watches.get(kind);
      if (watch === undefined) continue;
      watch.users -= 1;
      if (watch.users === 0) this.#stopWatch(kind, watch);
    }
  }

  #acquire(gvk: Gvk): RecordWatch {
    const { cluster, definition } = this.#options;
    const informer = cluster.acquire({ gvk, labelSelector: `${recordedByLabel}=${definition}` });
    const watch = { informer, users: 1, stops: [informer.onState(this.#events.onState)] };
    if (this.#ring !== undefined) this.#subscribe(watch);
    return watch;
  }

  #stopWatch(kind: string, { informer, stops }: RecordWatch): void {
    for (const stop of stops) stop();
    informer.release();
    this.#watches.delete(kind);
    for (const [key, record] of [...this.#byKey])
      if (record.gvk.kind === kind) this.#remove(key, record);
  }

  #subscribe({ informer, stops }: RecordWatch): void {
    const { gvk } = informer.query;
    stops.push(informer.subscribe((event) => this.#onEvent(gvk, event, false)));
  }

  /** The informers of the records of these kinds. */
  informersOf(kinds: readonly Gvk[]): readonly Informer[] {
    return kinds.flatMap(({ kind }) => this.#watches.get(kind)?.informer ?? []);
  }

  /** Reads the keys, and the records once there are keys. */
  open(): void {
    this.keys.start();
  }

  /** Records are never treated as missing before they have been listed and can be verified. */
  get state(): InformerState {
    return this.#stateOf([...this.#watches.values()].map(({ informer }) => informer));
  }

  /** The same for records of these kinds. */
  stateOf(kinds: readonly Gvk[]): InformerState {
    // A revision that has stopped watched them.
    if (!kinds.every(({ kind }) => this.#watches.has(kind))) return { kind: 'waiting' };
    return this.#stateOf(this.informersOf(kinds));
  }

  #stateOf(informers: readonly Informer[]): InformerState {
    const states = [this.keys, ...informers].map(({ state }) => state);
    return states.find(({ kind }) => kind !== 'synced') ?? { kind: 'synced' };
  }

  /** Usage of all resources. */
  get usage(): RecordUsage {
    return this.#usage;
  }

  /** Usage of one resource in one namespace. */
  usageOf(ownerUid: string, place: string): RecordUsage {
    return this.#owners.get(ownerUid)?.usage.get(place) ?? noUsage;
  }

  /** Usage of all resources in one namespace. */
  usageIn(place: string): RecordUsage {
    return this.#usageIn.get(place) ?? noUsage;
  }

  /** UIDs of the resources that have records. */
  get owners(): Iterable<string> {
    return this.#owners.keys();
  }

  /** Whether the name of a record belongs to an object already: one of others, or a record that is not authentic. */
  isTaken(kind: Gvk, place: string, name: string): boolean {
    return this.#watches.get(kind.kind)?.informer.get(place, name) !== undefined;
  }

  /** The resource does not exist any more: its records do not count. */
  markGone(ownerUid: string): void {
    const owner = this.#owners.get(ownerUid);
    if (owner === undefined || owner.isGone) return;
    for (const [place, { count, sizeBytes }] of owner.usage)
      this.#countIn(place, -count, -sizeBytes);
    owner.isGone = true;
  }

  /** The records of one object, sorted by version. */
  recordsOf(ownerUid: string, series: string): readonly StateRecord[] {
    return this.#owners.get(ownerUid)?.series.get(series)?.records ?? noRecords;
  }

  /** The records of a resource, by object, each sorted by version. */
  *seriesOf(ownerUid: string): Iterable<readonly StateRecord[]> {
    for (const { records } of this.#owners.get(ownerUid)?.series.values() ?? []) yield records;
  }

  /** All records by object, of resources that exist. */
  *allSeries(): Iterable<readonly StateRecord[]> {
    for (const [uid, { isGone }] of this.#owners) if (!isGone) yield* this.seriesOf(uid);
  }

  /** `history` in expressions of a resource: the same list until its records change, and the same entries of objects that do not. */
  entriesOf(ownerUid: string, plan: OperatorPlan): readonly HistoryEntry[] {
    const owner = this.#owners.get(ownerUid);
    if (owner === undefined) return [];
    if (owner.plan !== plan) {
      owner.plan = plan;
      owner.entries = undefined;
      for (const series of owner.series.values()) series.entries = undefined;
    }
    owner.sorted ??= [...owner.series.values()].sort(byPlace);
    owner.entries ??= Object.freeze(owner.sorted.flatMap((series) => listed(series, plan)));
    return owner.entries;
  }

  stop(): void {
    this.keys.stop();
    for (const { informer, stops } of this.#watches.values()) {
      for (const stop of stops) stop();
      informer.release();
    }
  }

  /** Records are read with the first keys, and again when the keys change. */
  #onKeys(): void {
    const { ring } = this.keys;
    if (ring !== undefined && this.#ring === undefined) {
      for (const watch of this.#watches.values()) this.#subscribe(watch);
    } else if (ring !== this.#ring) {
      for (const { informer } of this.#watches.values())
        for (const stored of informer.list()) this.#readAgain(informer.query.gvk, stored);
    }
    this.#ring = ring;
    this.#events.onState();
  }

  /** A reader that does not know the namespace of the runtime finds it with the keys. */
  get #clusterNamespace(): string {
    const { clusterNamespace, keysNamespace } = this.#options;
    return keysNamespace === undefined ? (this.keys.place ?? clusterNamespace) : clusterNamespace;
  }

  #readAgain(gvk: Gvk, current: StoredObject): void {
    const { namespace = '', name } = current.object.metadata;
    this.#onEvent(gvk, { namespace, name, current, initial: false }, true);
  }

  /** The record, if it is authentic, and of an object that is as its kind is. */
  #read(key: string, stored: StoredObject): StateRecord | undefined {
    const { definition, cluster } = this.#options;
    const { ring } = this.keys;
    const record = parseRecord(stored, definition, this.#clusterNamespace);
    if (record === undefined || ring === undefined) return undefined;
    const { apiVersion, kind } = record.object;
    const isNamespaced = cluster.resourceFor(gvkOf(apiVersion, kind))?.namespaced;
    if (isNamespaced !== undefined && isNamespaced !== (record.namespace !== undefined))
      return undefined;
    const authenticity = authenticityOf(stored.object, ring, this.own);
    if (authenticity === 'authentic')
      return { ...record, deletedAt: deletedAtOf(stored.object, ring) };
    this.ignored.add(key, { record, object: stored.object, authenticity });
    return undefined;
  }

  #onEvent(
    gvk: Gvk,
    { namespace, name, current, initial }: Omit<CacheEvent, 'old'>,
    isReadAgain: boolean,
  ): void {
    const key = `${gvk.kind} ${keyOf(namespace, name)}`;
    const before = this.#byKey.get(key);
    if (!isReadAgain && before !== undefined && isSameVersion(before, current)) return;
    this.ignored.remove(key);
    const after = current && this.#read(key, current);
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
    this.#count(owner, record, 1);
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
    this.#count(owner, record, -1);
    if (owner.series.size === 0) this.#owners.delete(record.ownerUid);
  }

  #count(owner: OwnerRecords, { meta, sizeBytes }: StateRecord, count: 1 | -1): void {
    owner.entries = undefined;
    const { namespace: place = '' } = meta;
    addUsage(owner.usage, place, count, count * sizeBytes);
    if (!owner.isGone) this.#countIn(place, count, count * sizeBytes);
  }

  #countIn(place: string, count: number, sizeBytes: number): void {
    addUsage(this.#usageIn, place, count, sizeBytes);
    this.#usage = added(this.#usage, count, sizeBytes);
  }
}

/** Whether a revision still keeps versions of what was recorded. */
export function isKept({ reads }: Pick<OperatorPlan, 'reads'>, record: StateRecord): boolean {
  const read = reads.find(({ id }) => id === record.readId);
  const { apiVersion, kind } = record.object;
  return (
    read?.history !== undefined && groupKindKey(read.gvk) === groupKindKey(gvkOf(apiVersion, kind))
  );
}

/** The newest record of an object that exists is its current state. */
function listed(series: Series, plan: OperatorPlan): readonly HistoryEntry[] {
  if (series.entries !== undefined) return series.entries;
  const { records } = series;
  const newest = records.at(-1);
  const isListed = newest !== undefined && isKept(plan, newest) && isReached(plan, newest);
  const earlier = newest?.deletedAt === undefined ? records.slice(0, -1) : records;
  series.entries = isListed
    ? earlier.filter((record) => isKept(plan, record)).map((record) => entryOf(record))
    : [];
  return series.entries;
}

/** A read that reaches only the namespace of the resource lists no other one, whatever an earlier definition has recorded. */
function isReached({ reads }: OperatorPlan, { readId, namespace, ownerKey }: StateRecord): boolean {
  const reach = reads.find(({ id }) => id === readId)?.reach;
  if (reach !== 'own' || namespace === undefined || ownerKey === undefined) return true;
  return parseKey(ownerKey).namespace === namespace;
}

/** Whether the event is of the version that was read: nothing is verified twice. */
function isSameVersion({ meta }: StateRecord, current: StoredObject | undefined): boolean {
  const { uid, resourceVersion, deletionTimestamp } = current?.object.metadata ?? {};
  return (
    resourceVersion !== undefined &&
    deletionTimestamp === undefined &&
    resourceVersion === meta.resourceVersion &&
    uid === meta.uid
  );
}

function addUsage(
  all: Map<string, RecordUsage>,
  place: string,
  count: number,
  sizeBytes: number,
): void {
  const sum = added(all.get(place) ?? noUsage, count, sizeBytes);
  if (sum.count === 0) all.delete(place);
  else all.set(place, sum);
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
