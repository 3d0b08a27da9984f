import type { HistoryEntry, ReadPlan } from '../../compile/index.ts';
import { Controller, type ReconcileContext, type ReconcileResult } from '../../controller/index.ts';
import {
  type CacheEvent,
  type InformerState,
  KubeError,
  type StoredObject,
} from '../../kube/roles.ts';
import { type Gauge, metricCatalogue, silentMetrics } from '../../telemetry/roles.ts';
import { groupKindKey } from '../../util/gvk.ts';
import { mayBeNewer } from '../../util/resource-version.ts';
import { recordKeysName } from '../../util/stored-names.ts';
import type { PruneCandidate } from '../deletion-guard.ts';
import { type Problem, problemOfWatch } from '../failure.ts';
import { isRecordKeys } from '../record-keys-secret.ts';
import { settled } from '../watch/informer-waits.ts';
import { historyProblem } from './history-problem.ts';
import type { ObjectTrack, WaitingStates } from './object-track.ts';
import { OldRecords } from './old-records.ts';
import { OwnerlessRecords } from './ownerless-records.ts';
import { isRecord, type RecordOwner, secretKind, seriesOf } from './record.ts';
import { RecordStore } from './record-store.ts';
import { RecordWriter } from './record-writer.ts';
import type { HistoryRecorderOptions } from './recorder-options.ts';
import { removableRecords, scheduleExpiry } from './removable-records.ts';
import { SeenStates } from './seen-states.ts';
import { permanentDelayMs, SeriesWriter } from './series-writer.ts';
import { type TrackedOwner, Tracks } from './tracks.ts';

/** Records that are written at the same time. */
const concurrency = 10;
/** Delays between attempts to write a record. */
const baseDelayMs = 200;
/** Keys of the queue for the records of a resource, by its UID; other keys are series. */
const upgradePrefix = 'upgrade/';
const ownerlessPrefix = 'ownerless/';

/** An object that is about to be overwritten, or created. */
interface OverwrittenObject {
  readonly namespace: string | undefined;
  readonly name: string;
  /** Undefined: it does not exist. */
  readonly live: StoredObject | undefined;
}

/**
 * Records the states of the objects that a definition reads with `history`. A reconcile names these objects; from then on every watch event
 * is recorded, in order for each object. Recording has a queue of its own: whether the resource fails or waits makes no difference.
 */
export class HistoryRecorder {
  readonly #options: HistoryRecorderOptions;
  readonly #store: RecordStore;
  readonly #writer: RecordWriter;
  readonly #queue: Controller;
  /** Their series are the keys of the queue. */
  readonly #tracks: Tracks;
  readonly #stopper = new AbortController();
  readonly #gauge: Gauge;
  readonly #seen: SeenStates;
  readonly #series: SeriesWriter;
  readonly #old: OldRecords;
  readonly #ownerless: OwnerlessRecords;

  constructor(options: HistoryRecorderOptions) {
    this.#options = options;
    const { plan, metrics, clock, logger } = options;
    const definition = plan.name;
    this.#tracks = new Tracks(definition);
    this.#gauge = metrics.gauge(metricCatalogue.historyRecords);
    this.#gauge.set(0, [definition]);
    this.#store = new RecordStore(options, {
      onChange: (uid) => this.#onRecords(uid),
      onLost: (series) => this.#recordAgain(series),
      onState: () => this.#onStoreState(),
    });
    this.#writer = new RecordWriter(options, this.#store);
    this.#queue = new Controller({
      name: definition,
      clock,
      logger,
      concurrency,
      baseDelayMs,
      maxDelayMs: permanentDelayMs,
      graceMs: 0,
      // The metrics of the definition count its reconciles.
      metrics: silentMetrics,
      reconciler: { reconcile: (key, context) => this.#work(key, context) },
    });
    this.#series = new SeriesWriter(options, this.#writer);
    this.#seen = new SeenStates(this.#store, {
      onWaiting: ({ series }) => this.#queue.enqueue(series),
      onUnchanged: (track) => this.#series.setProblem(track, undefined),
    });
    this.#old = new OldRecords(options, this.#store);
    this.#ownerless = new OwnerlessRecords(options, {
      store: this.#store,
      writer: this.#writer,
      enqueue: (uid) => this.#queue.enqueue(ownerlessPrefix + uid),
    });
    this.#store.open();
  }

  /** Starts to write. Resolves when the records have been listed, or the first attempt failed. */
  async start(signal: AbortSignal): Promise<void> {
    // Ends with `stop`, and never rejects.
    void this.#queue.run(this.#stopper.signal);
    await Promise.all(this.#store.informers.map((informer) => settled(informer, signal)));
    await this.#store.keys.settled(signal);
    this.#ownerless.checkLater();
  }

  stop(): void {
    this.#stopper.abort(new KubeError('aborted', 'The operator stops', { status: 0 }));
    this.#ownerless.stop();
    this.#tracks.dropAll();
    this.#store.stop();
  }

  /** Records are never treated as missing before they have been listed. */
  get state(): InformerState {
    return this.#store.state;
  }

  /** `history` in expressions of the resource with this UID. Undefined: not listed yet. */
  entries(uid: string): readonly HistoryEntry[] | undefined {
    this.#store.keys.want();
    return this.state.kind === 'synced' && !this.#old.isUpgrading(uid)
      ? this.#store.entriesOf(uid)
      : undefined;
  }

  /** The resource reads these objects, all that the read finds: from now on their changes are recorded. */
  observe(owner: RecordOwner, read: ReadPlan, objects: readonly StoredObject[]): void {
    const state = this.#stateOf(owner);
    this.#store.keys.want();
    this.#checkIgnored(owner);
    const seen = new Set<ObjectTrack>();
    for (const stored of objects) {
      if (isRecord(stored, this.#options.plan.name)) continue;
      const track = this.#tracks.of(state, read, stored.object.metadata);
      seen.add(track);
      track.isAbsenceChecked = false;
      this.#seen.add(track, stored);
    }
    this.#checkMissing(state, read, seen);
    this.#removeUnused(state, read, seen);
  }

  /** An object that the resource reads changed or was deleted. Ignored before {@link observe}. */
  noteEvent(key: string, read: ReadPlan, { old, current, initial }: CacheEvent): void {
    const state = this.#tracks.ofKey(key);
    const stored = current ?? old;
    if (state === undefined || stored === undefined || initial) return;
    if (isRecord(stored, this.#options.plan.name)) return;
    if (isRecordKeys(read.gvk, stored.object.metadata.name)) return;
    const track = this.#tracks.of(state, read, stored.object.metadata);
    track.holdsOldest = false;
    const { uid = '', resourceVersion = '' } = stored.object.metadata;
    if (current === undefined) {
      // Events of an object are in order. One with an older version follows only if etcd was restored from a backup.
      if (track.seenUid === uid) track.seenVersion = undefined;
      this.#seen.addMissing(track, uid);
      return;
    }
    const before = old?.object.metadata.resourceVersion;
    if (before !== undefined && !mayBeNewer(resourceVersion, before)) track.seenVersion = undefined;
    this.#seen.add(track, current);
  }

  /** Records the state of an object that a restore is about to overwrite. Returns why it cannot be recorded. */
  async ensureRecorded(
    owner: RecordOwner,
    read: ReadPlan,
    { live, ...object }: OverwrittenObject,
  ): Promise<Problem | undefined> {
    const track = this.#tracks.of(this.#stateOf(owner), read, object);
    track.isUrgent = true;
    track.holdsOldest = true;
    if (live !== undefined) this.#seen.add(track, live, true);
    else this.#seen.addMissing(track);
    if (track.last !== undefined) this.#queue.enqueue(track.series);
    await track.settled();
    track.isUrgent = false;
    const { state } = this;
    return state.kind === 'failing' ? this.#failureOf(state.error) : track.problem;
  }

  /** Whether a version of the object is stored for the resource. */
  isRecorded(uid: string, read: ReadPlan, object: Omit<OverwrittenObject, 'live'>): boolean {
    const subject = { ownerUid: uid, readId: read.id, ...object };
    const records = this.#store.recordsOf(uid, seriesOf(this.#options.plan.name, subject));
    return records.some((record) => this.#store.isKept(record));
  }

  /** Errors of the watches on records. */
  watchErrors(): readonly { readonly error: KubeError; readonly literalName?: string }[] {
    const { keys, informers } = this.#store;
    const failures = informers.flatMap(({ state }) =>
      state.kind === 'failing' ? [{ error: state.error }] : [],
    );
    if (keys.state.kind !== 'failing') return failures;
    return [{ error: keys.state.error, literalName: recordKeysName }, ...failures];
  }

  /** Why objects of the resource are not recorded. */
  problems(key: string): readonly Problem[] {
    const { state } = this;
    if (state.kind === 'failing') return [this.#failureOf(state.error)];
    const owner = this.#tracks.ofKey(key);
    const upgrade = this.#old.problemOf(owner?.owner.uid ?? '');
    const tracks = [...(owner?.tracks.values() ?? [])];
    return [...(upgrade ? [upgrade] : []), ...tracks.flatMap(({ problem }) => problem ?? [])];
  }

  /** Records that are no longer to be kept: expired, or because settings changed. */
  removable(uid: string): readonly PruneCandidate[] {
    if (this.state.kind !== 'synced') return [];
    const { clock, plan } = this.#options;
    const [store, tracks] = [this.#store, this.#tracks];
    return removableRecords(uid, { store, tracks, reads: plan.reads, nowMs: clock.nowMs() });
  }

  /** Deletes records. Returns the first error, if any. */
  async remove(
    records: readonly PruneCandidate[],
    signal: AbortSignal,
  ): Promise<Problem | undefined> {
    const error = await this.#writer.removeAll(records, signal);
    return error && historyProblem(error);
  }

  /** A missing right was granted: tries again at once. */
  retry(key: string): void {
    const owner = this.#tracks.ofKey(key);
    if (owner === undefined) return;
    if (this.#old.problemOf(owner.owner.uid) !== undefined)
      this.#queue.enqueue(upgradePrefix + owner.owner.uid);
    for (const { problem, series } of owner.tracks.values())
      if (problem !== undefined) this.#queue.enqueue(series);
  }

  /** Stops recording for a resource that another operator takes over. Undefined: nothing waits. */
  handOver(key: string): WaitingStates | undefined {
    const state = this.#tracks.ofKey(key);
    if (state === undefined) return undefined;
    const objects = [...state.tracks.values()].flatMap(({ waiting }) => waiting ?? []);
    this.#tracks.drop(key);
    return objects.length === 0 ? undefined : { owner: state.owner, objects };
  }

  /** Records what the operator of another revision has seen, unless the read keeps no versions any more. */
  adopt({ owner, objects }: WaitingStates): void {
    // The resource has been recreated meanwhile.
    if ((this.#tracks.ofKey(owner.key)?.owner.uid ?? owner.uid) !== owner.uid) return;
    const state = this.#stateOf(owner);
    for (const object of objects) {
      const read = this.#options.plan.reads.find(
        ({ id, gvk, history }) =>
          id === object.read.id &&
          history !== undefined &&
          groupKindKey(gvk) === groupKindKey(object.read.gvk),
      );
      if (read === undefined) continue;
      const track = this.#tracks.of(state, read, object.subject);
      track.adopt(object);
      this.#queue.enqueue(track.series);
    }
  }

  /** Stops recording for a resource. Resolves when no write of it is in flight. */
  async forget(key: string): Promise<void> {
    const uid = this.#tracks.ofKey(key)?.owner.uid ?? '';
    this.#old.forget(uid);
    await Promise.all(this.#tracks.drop(key).map((track) => track.settled()));
  }

  #stateOf(owner: RecordOwner): TrackedOwner {
    const known = this.#tracks.ofKey(owner.key);
    const state = this.#tracks.ofOwner(owner);
    if (state !== known) this.#scheduleExpiry(state);
    return state;
  }

  /** Recorded objects that the read does not find: deleted while no process watched, or out of its scope. */
  #checkMissing(state: TrackedOwner, read: ReadPlan, seen: ReadonlySet<ObjectTrack>): void {
    if (this.state.kind !== 'synced') return;
    for (const records of this.#store.seriesOf(state.owner.uid)) {
      const newest = records.at(-1);
      if (newest?.readId !== read.id || newest.deletedAt !== undefined) continue;
      const track = this.#tracks.of(state, read, newest);
      if (seen.has(track) || track.isAbsenceChecked) continue;
      track.isAbsenceChecked = true;
      this.#seen.addMissing(track);
    }
  }

  /** Objects that do not exist any more and of which all records have expired. */
  #removeUnused(state: TrackedOwner, read: ReadPlan, seen: ReadonlySet<ObjectTrack>): void {
    if (this.state.kind !== 'synced') return;
    for (const track of state.tracks.values()) {
      if (track.read.id !== read.id || seen.has(track) || !track.isIdle) continue;
      if (this.#seen.newest(track) === undefined) this.#tracks.remove(state, track);
    }
  }

  /** Why there are no versions: the right on the keys is one on a single Secret. */
  #failureOf(error: KubeError): Problem {
    const { state } = this.#store.keys;
    const isOfKeys = state.kind === 'failing' && state.error === error;
    return isOfKeys ? problemOfWatch(error, secretKind, recordKeysName) : historyProblem(error);
  }

  async #work(key: string, context: ReconcileContext): Promise<ReconcileResult> {
    if (key.startsWith(upgradePrefix))
      return this.#signOld(key.slice(upgradePrefix.length), context);
    if (!key.startsWith(ownerlessPrefix)) return this.#write(key, context);
    await this.#ownerless.remove(key.slice(ownerlessPrefix.length), context.signal);
    return { kind: 'done' };
  }

  /** Signs what an earlier release has recorded for the resource, and reports what remains without a signature. */
  #checkIgnored(owner: RecordOwner): void {
    if (this.state.kind !== 'synced') return;
    if (this.#old.isPending(owner.uid)) this.#queue.enqueue(upgradePrefix + owner.uid);
    else this.#old.report(owner);
  }

  async #signOld(uid: string, { signal }: ReconcileContext): Promise<ReconcileResult> {
    const tracked = this.#tracks.ofKey(this.#options.keyOfUid(uid) ?? '');
    if (tracked?.owner.uid !== uid || this.state.kind !== 'synced') return { kind: 'done' };
    const { owner, tracks } = tracked;
    await this.#old.sign(owner, signal);
    for (const { series } of tracks.values()) this.#queue.enqueue(series);
    return { kind: 'done' };
  }

  /** Writes what waits of one object. */
  async #write(series: string, context: ReconcileContext): Promise<ReconcileResult> {
    const track = this.#tracks.ofSeries(series);
    if (track === undefined) return { kind: 'done' };
    try {
      // Before the records have been listed, what is recorded is unknown.
      if (this.state.kind !== 'synced') return { kind: 'done' };
      if (this.#old.isUpgrading(track.subject.ownerUid)) return { kind: 'done' };
      return await this.#series.write(track, context);
    } finally {
      track.end();
    }
  }

  #onRecords(uid: string): void {
    const { plan, history, keyOfUid, enqueue } = this.#options;
    this.#gauge.set(this.#store.usage.count, [plan.name]);
    const key = keyOfUid(uid);
    if (key === undefined) {
      this.#ownerless.checkLater();
      return;
    }
    const state = this.#tracks.ofKey(key);
    if (state !== undefined) this.#scheduleExpiry(state);
    if (history.isRead) enqueue(key);
  }

  /** What was recorded last is lost: the next reconcile has the current state, or that there is none, recorded again. */
  #recordAgain(series: string): void {
    const track = this.#tracks.ofSeries(series);
    if (track === undefined) return;
    track.seenVersion = undefined;
    track.isAbsenceChecked = false;
    this.#options.enqueue(track.owner.key);
  }

  #onStoreState(): void {
    const { plan, enqueueAll } = this.#options;
    this.#gauge.set(this.#store.usage.count, [plan.name]);
    for (const state of this.#tracks.owners) this.#scheduleExpiry(state);
    for (const { series, last } of this.#tracks.all)
      if (last !== undefined) this.#queue.enqueue(series);
    enqueueAll();
  }

  /** Enqueues the resource when the next records expire. */
  #scheduleExpiry(state: TrackedOwner): void {
    const { clock, plan, enqueue } = this.#options;
    scheduleExpiry(state, { store: this.#store, reads: plan.reads, clock, enqueue });
  }
}
