import type { ReadPlan } from '#compile';
import { Controller, type ReconcileContext, type ReconcileResult } from '#controller';
import { type CacheEvent, KubeError, type StoredObject } from '#kube/roles.ts';
import { type Gauge, metricCatalogue, silentMetrics } from '#telemetry/roles.ts';
import { mayBeNewer } from '#util/resource-version.ts';
import { recordKeysName } from '#util/stored-names.ts';
import { type Problem, problemOfWaiting, problemOfWatch } from '../failure.ts';
import type { PruneCandidate } from '../prune-candidate.ts';
import { isRecordKeys } from '../record-keys-secret.ts';
import { historyProblem } from './history-problem.ts';
import type { ObjectTrack } from './object-track.ts';
import { OldRecords } from './old-records.ts';
import { OwnerlessRecords } from './ownerless-records.ts';
import { isRecord, type RecordOwner, recordKindOf, secretKind } from './record.ts';
import { RecordStore } from './record-store.ts';
import { RecordWriter } from './record-writer.ts';
import type { HistoryRecorderOptions, RecordingRevision } from './recorder-options.ts';
import { scheduleExpiry } from './removable-records.ts';
import { RevisionHistory } from './revision-history.ts';
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
export interface OverwrittenObject {
  readonly namespace: string | undefined;
  readonly name: string;
  /** Undefined: it does not exist. */
  readonly live: StoredObject | undefined;
}

/**
 * Records the states of the objects that a definition reads with `history`, one recorder for all its active revisions. A reconcile names these objects; from then on every watch event
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
  /** Those that keep versions. */
  readonly #revisions = new Set<RecordingRevision>();
  #isRunning = false;

  constructor(options: HistoryRecorderOptions) {
    this.#options = options;
    const { definition, metrics, clock, logger } = options;
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
    const parts = {
      ...options,
      keyOfUid: (uid: string) => this.#keyOfUid(uid),
      enqueue: (key: string) => this.#enqueue(key),
    };
    this.#series = new SeriesWriter(parts, this.#writer);
    this.#seen = new SeenStates(this.#store, {
      onWaiting: ({ series }) => this.#queue.enqueue(series),
      onUnchanged: (track) => this.#series.setProblem(track, undefined),
    });
    this.#old = new OldRecords(parts, this.#store);
    this.#ownerless = new OwnerlessRecords(parts, {
      store: this.#store,
      writer: this.#writer,
      enqueue: (uid) => this.#queue.enqueue(ownerlessPrefix + uid),
    });
    this.#store.open();
  }

  /** The versions as a revision sees them, until it stops. */
  attach(revision: RecordingRevision): RevisionHistory {
    this.#revisions.add(revision);
    return new RevisionHistory(revision, {
      recorder: this,
      store: this.#store,
      tracks: this.#tracks,
      old: this.#old,
      clock: this.#options.clock,
    });
  }

  /** Without the last revision, it stops. */
  detach(revision: RecordingRevision): void {
    if (!this.#revisions.delete(revision)) return;
    if (this.#revisions.size === 0) this.#stop();
    else this.#store.release(revision.history.recordKinds);
  }

  get isStopped(): boolean {
    return this.#stopper.signal.aborted;
  }

  /** Starts to write, once. */
  run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    // Ends with the last revision, and never rejects.
    void this.#queue.run(this.#stopper.signal);
  }

  /** See {@link OwnerlessRecords.checkLater}. */
  checkOwnerless(): void {
    this.#ownerless.checkLater();
  }

  #stop(): void {
    this.#stopper.abort(new KubeError('aborted', 'The operator stops', { status: 0 }));
    this.#ownerless.stop();
    this.#tracks.dropAll();
    this.#store.stop();
  }

  #keyOfUid(uid: string): string | undefined {
    for (const { keyOfUid } of this.#revisions) {
      const key = keyOfUid(uid);
      if (key !== undefined) return key;
    }
    return undefined;
  }

  #enqueue(key: string): void {
    for (const { enqueue } of this.#revisions) enqueue(key);
  }

  /** The resource reads these objects, all that the read finds: from now on their changes are recorded. */
  observe(
    revision: RecordingRevision,
    owner: RecordOwner,
    { read, objects }: { readonly read: ReadPlan; readonly objects: readonly StoredObject[] },
  ): void {
    const state = this.#stateOf(owner, revision);
    this.#store.keys.want();
    if (this.#isListed(revision)) this.#checkIgnored(owner);
    const seen = new Set<ObjectTrack>();
    for (const stored of objects) {
      if (isRecord(stored, this.#options.definition)) continue;
      const track = this.#tracks.of(state, read, stored.object.metadata);
      seen.add(track);
      track.isAbsenceChecked = false;
      this.#seen.add(track, stored);
    }
    if (!this.#isListed(revision)) return;
    this.#checkMissing(state, read, seen);
    this.#removeUnused(state, read, seen);
  }

  /** An object that the resource reads changed or was deleted. Ignored before {@link observe}. */
  noteEvent(key: string, read: ReadPlan, { old, current, initial }: CacheEvent): void {
    const state = this.#tracks.ofKey(key);
    const stored = current ?? old;
    if (state === undefined || stored === undefined || initial) return;
    if (isRecord(stored, this.#options.definition)) return;
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

  /** Records the state of an object that a restore is about to overwrite. Returns why it is not recorded. */
  async ensureRecorded(
    revision: RecordingRevision,
    owner: RecordOwner,
    { live, read, ...object }: OverwrittenObject & { readonly read: ReadPlan },
  ): Promise<Problem | undefined> {
    const track = this.#tracks.of(this.#stateOf(owner, revision), read, object);
    track.isUrgent = true;
    track.holdsOldest = true;
    if (live !== undefined) this.#seen.add(track, live, true);
    else this.#seen.addMissing(track);
    if (track.last !== undefined) this.#queue.enqueue(track.series);
    await track.settled();
    track.isUrgent = false;
    // Before the stored versions are known, nothing is written.
    return track.problem ?? (track.isIdle ? undefined : problemOfWaiting(['the stored versions']));
  }

  /** Why objects of the resource are not recorded. */
  problems(key: string): readonly Problem[] {
    const owner = this.#tracks.ofKey(key);
    const upgrade = this.#old.problemOf(owner?.owner.uid ?? '');
    const tracks = [...(owner?.tracks.values() ?? [])];
    return [...(upgrade ? [upgrade] : []), ...tracks.flatMap(({ problem }) => problem ?? [])];
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

  /** Stops recording for a resource. Resolves when no write of it is in flight. */
  async forget(key: string): Promise<void> {
    const uid = this.#tracks.ofKey(key)?.owner.uid ?? '';
    this.#old.forget(uid);
    await Promise.all(this.#tracks.drop(key).map((track) => track.settled()));
  }

  #stateOf(owner: RecordOwner, revision: RecordingRevision): TrackedOwner {
    const known = this.#tracks.ofKey(owner.key);
    const isNew = known?.owner.uid !== owner.uid || known.revision !== revision;
    const state = this.#tracks.ofOwner(owner, revision);
    if (isNew) this.#scheduleExpiry(state);
    return state;
  }

  /** Are the records of the revision listed? */
  #isListed({ history }: RecordingRevision): boolean {
    return this.#store.stateOf(history.recordKinds).kind === 'synced';
  }

  /** Recorded objects that the read does not find: deleted while no process watched, or out of its scope. */
  #checkMissing(state: TrackedOwner, read: ReadPlan, seen: ReadonlySet<ObjectTrack>): void {
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
    for (const track of state.tracks.values()) {
      if (track.read.id !== read.id || seen.has(track) || !track.isIdle) continue;
      if (this.#seen.newest(track) === undefined) this.#tracks.remove(state, track);
    }
  }

  /** Why there are no versions: the right on the keys is one on a single Secret. */
  failureOf(error: KubeError): Problem {
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
    if (this.#old.isPending(owner.uid)) this.#queue.enqueue(upgradePrefix + owner.uid);
    else this.#old.report(owner);
  }

  async #signOld(uid: string, { signal }: ReconcileContext): Promise<ReconcileResult> {
    const tracked = this.#tracks.ofKey(this.#keyOfUid(uid) ?? '');
    if (tracked?.owner.uid !== uid || !this.#isListed(tracked.revision)) return { kind: 'done' };
    const { owner, revision, tracks } = tracked;
    await this.#old.sign(owner, revision.plan, signal);
    for (const { series } of tracks.values()) this.#queue.enqueue(series);
    return { kind: 'done' };
  }

  /** Writes what waits of one object. */
  async #write(series: string, context: ReconcileContext): Promise<ReconcileResult> {
    const track = this.#tracks.ofSeries(series);
    if (track === undefined) return { kind: 'done' };
    try {
      // Before the records have been listed, what is recorded is unknown.
      if (this.#store.stateOf([recordKindOf(track.ref.gvk)]).kind !== 'synced')
        return { kind: 'done' };
      if (this.#old.isUpgrading(track.subject.ownerUid)) return { kind: 'done' };
      return await this.#series.write(track, context);
    } finally {
      track.end();
    }
  }

  #onRecords(uid: string): void {
    this.#gauge.set(this.#store.usage.count, [this.#options.definition]);
    const key = this.#keyOfUid(uid);
    if (key === undefined) {
      this.#ownerless.checkLater();
      return;
    }
    const state = this.#tracks.ofKey(key);
    if (state !== undefined) this.#scheduleExpiry(state);
    for (const { history, enqueue } of this.#revisions) if (history.isRead) enqueue(key);
  }

  /** What was recorded last is lost: the next reconcile has the current state, or that there is none, recorded again. */
  #recordAgain(series: string): void {
    const track = this.#tracks.ofSeries(series);
    if (track === undefined) return;
    track.seenVersion = undefined;
    track.isAbsenceChecked = false;
    this.#enqueue(track.owner.key);
  }

  #onStoreState(): void {
    this.#gauge.set(this.#store.usage.count, [this.#options.definition]);
    for (const state of this.#tracks.owners) this.#scheduleExpiry(state);
    for (const { series, last } of this.#tracks.all)
      if (last !== undefined) this.#queue.enqueue(series);
    for (const { enqueueAll } of this.#revisions) enqueueAll();
  }

  /** Enqueues the resource when the next records expire. */
  #scheduleExpiry(state: TrackedOwner): void {
    const enqueue = (key: string) => this.#enqueue(key);
    scheduleExpiry(state, { store: this.#store, clock: this.#options.clock, enqueue });
  }
}
