import { KubeError, type WriteOptions } from '#kube/roles.ts';
import { type Counter, metricCatalogue, seriesOf } from '#telemetry/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  deletedAtAnnotation,
  deletionSignatureAnnotation,
  recordManagerOf,
} from '#util/stored-names.ts';
import type { Problem } from '../failure.ts';
import { refOfObject } from '../identity.ts';
import type { PruneCandidate } from '../prune-candidate.ts';
import type { ObjectTrack, PendingState, SeenState } from './object-track.ts';
import {
  isRecord,
  placeOfRecords,
  recordManifest,
  refOfRecord,
  type StateRecord,
  sizeOfRecord,
} from './record.ts';
import { deletionSignatureOf, type RecordKey, signed } from './record-signature.ts';
import type { RecordStore, RecordUsage } from './record-store.ts';
import type { HistoryRecorderOptions } from './recorder-options.ts';
import { candidateOf } from './removable-records.ts';

/** What may be stored: docs/definition/history.md#limits. */
export interface HistoryLimits {
  /** Size of one object. */
  readonly objectBytes: number;
  /** Records of one resource in one namespace: the objects of another one do not take its room. */
  readonly resource: RecordUsage;
  /** Records of all resources of the definition. */
  readonly definition: RecordUsage;
}

const mebibyte = 1_048_576;
const defaultLimits: HistoryLimits = {
  // That of the data of a Secret; a ControllerRevision of this size is far below the limit of a request.
  objectBytes: mebibyte,
  resource: { count: 5_000, sizeBytes: 64 * mebibyte },
  definition: { count: Infinity, sizeBytes: 512 * mebibyte },
};
/** Records that are deleted at the same time. */
const concurrency = 10;

/** Writes records. Every write may be lost or repeated: the records that exist decide what is written next. */
export class RecordWriter {
  readonly #options: HistoryRecorderOptions;
  readonly #store: RecordStore;
  readonly #definition: string;
  readonly #writes: Counter;
  readonly #write: WriteOptions;
  readonly #limits: HistoryLimits;

  constructor(options: HistoryRecorderOptions, store: RecordStore) {
    this.#options = options;
    this.#store = store;
    const { metrics, definition, limits = defaultLimits } = options;
    this.#definition = definition;
    this.#limits = limits;
    this.#writes = metrics.counter(metricCatalogue.historyWrites);
    for (const series of seriesOf(metricCatalogue.historyWrites, { definition }))
      this.#writes.increment(series, 0);
    this.#write = { flow: { name: definition, priority: 'object' } };
  }

  /**
   * Records a state, or marks the newest record because the object was deleted. Nothing is sent if it is recorded already.
   * @returns why it will not be recorded: a limit.
   * @throws KubeError
   */
  async write(
    track: ObjectTrack,
    next: PendingState,
    signal: AbortSignal,
  ): Promise<Problem | undefined> {
    try {
      if (next.kind === 'state') return await this.#record(track, next, signal);
      await this.#recordDeletion(track, next.uid, signal);
      return undefined;
    } catch (error) {
      if (!signal.aborted) this.#count('failed');
      throw error;
    }
  }

  /** Deletes records; returns the first error. */
  async removeAll(
    records: readonly PruneCandidate[],
    signal: AbortSignal,
  ): Promise<KubeError | undefined> {
    const left = [...records];
    let failure: KubeError | undefined;
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        try {
          await this.#remove(next, signal);
        } catch (error) {
          if (!(error instanceof KubeError) || signal.aborted) throw error;
          failure ??= error;
          return;
        }
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    return failure;
  }

  async #record(
    track: ObjectTrack,
    state: SeenState,
    signal: AbortSignal,
  ): Promise<Problem | undefined> {
    for (;;) {
      // Another process or operator may record newer states by now.
      signal.throwIfAborted();
      if (track.isDropped) return undefined;
      const newest = this.#newest(track);
      const isMarked = newest?.deletedAt !== undefined;
      // An event that was on its way when the object was found to be deleted: it is of an earlier state.
      if (isMarked && track.deletedUid === state.uid) {
        track.deletedUid = undefined;
        await this.#mark(newest, undefined, signal);
        continue;
      }
      if (newest && !isMarked && track.isRecorded(state, newest.object)) return undefined;
      const version = this.#nextVersion(track, state, newest?.version ?? 0);
      const manifest = this.#manifestOf(track, state, version);
      const sizeBytes = sizeOfRecord(manifest);
      if (sizeBytes > this.#limits.objectBytes) return tooLarge;
      if (!(await this.#makeRoom(track, sizeBytes, signal))) return noRoom;
      if (await this.#create(track, manifest, version, signal)) break;
    }
    this.#count('recorded');
    track.noteRecord(this.#options.clock.monotonicMs());
    // The version that a restore is about to send may be the oldest one.
    if (!track.isUrgent && !track.holdsOldest) await this.#trim(track, signal);
    return undefined;
  }

  /** The version after the newest one whose name is not taken by an object that is no record. */
  #nextVersion(track: ObjectTrack, { object }: SeenState, newest: number): number {
    const { kind, place } = placeOfRecords(object, this.#options.clusterNamespace);
    let version = Math.max(newest, track.takenVersions) + 1;
    while (this.#store.isTaken(kind, place, `${track.series}-${version}`)) version += 1;
    return version;
  }

  #manifestOf(track: ObjectTrack, { object, uid }: SeenState, version: number): KubeObject {
    const { clock, clusterNamespace } = this.#options;
    const manifest = recordManifest({
      definition: this.#definition,
      owner: track.owner,
      readId: track.read.id,
      series: track.series,
      version,
      state: object,
      uid,
      now: new Date(clock.nowMs()).toISOString(),
      clusterNamespace,
    });
    const record = signed(manifest, this.#key());
    this.#store.own.add(record);
    return record;
  }

  #key(): RecordKey {
    const key = this.#store.keys.ring?.newest;
    if (key === undefined) throw new KubeError('unavailable', 'There is no key', { status: 0 });
    return key;
  }

  /** @returns false: the name is taken, by this record after a lost answer or by an object of others. */
  async #create(
    track: ObjectTrack,
    manifest: KubeObject,
    version: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { cluster } = this.#options;
    const definition = this.#definition;
    const options = { ...this.#write, fieldManager: recordManagerOf(definition), force: true };
    try {
      await cluster.apply(manifest, options, signal);
      return true;
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'already-exists') throw error;
      const found = await cluster.get(refOfObject(manifest), this.#write, signal);
      if (found === undefined) throw error;
      // A record of ours is in the store now: its state decides.
      const isOurs = isRecord(found, definition) && this.#newest(track)?.version === version;
      if (!isOurs) track.takenVersions = version;
      return false;
    }
  }

  /** Only an object that the server no longer has is deleted: it may have been relabelled, or the scope is narrower. */
  async #recordDeletion(track: ObjectTrack, uid: string, signal: AbortSignal): Promise<void> {
    const { cluster, clock } = this.#options;
    const newest = this.#newest(track);
    if (newest === undefined || newest.deletedAt !== undefined) return;
    const live = await cluster.get(track.ref, this.#write, signal);
    // Another object of that name: the newest record may be of it already.
    const isReplaced = live !== undefined && live.object.metadata.uid !== uid;
    if (live !== undefined && !(isReplaced && newest.objectUid === uid)) return;
    track.deletedUid = uid;
    await this.#mark(newest, new Date(clock.nowMs()).toISOString(), signal);
    this.#count('marked');
  }

  /** Marks a record with the time at which its object was found to be deleted, or removes the mark. */
  async #mark(
    record: StateRecord,
    deletedAt: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster } = this.#options;
    const ref = refOfRecord(record);
    const { uid = '' } = record.meta;
    const cached = { apiVersion: '', kind: ref.gvk.kind, metadata: record.meta };
    const mark = deletedAt ?? null;
    const signature = deletedAt && deletionSignatureOf(uid, deletedAt, this.#key());
    const change = () => ({
      annotations: {
        [deletedAtAnnotation]: mark,
        [deletionSignatureAnnotation]: signature ?? null,
      },
    });
    await cluster.editMetadata(ref, { ...this.#write, uid, cached, change }, signal);
  }

  /** Deletes the oldest record of the object if more than `keep` earlier ones exist. */
  async #trim(track: ObjectTrack, signal: AbortSignal): Promise<void> {
    const records = this.#records(track);
    const [oldest] = records;
    const { keep = 0 } = track.read.history ?? {};
    if (oldest === undefined || records.length <= keep + 1) return;
    await this.#remove(candidateOf(oldest), signal);
  }

  /**
   * Deletes the oldest records until another one is within the limits; never the newest one of an object.
   * @returns false: that would not be enough, and nothing is deleted
   */
  async #makeRoom(track: ObjectTrack, sizeBytes: number, signal: AbortSignal): Promise<boolean> {
    const store = this.#store;
    const { resource, definition } = this.#limits;
    const uid = track.subject.ownerUid;
    const place = track.subject.namespace ?? this.#options.clusterNamespace;
    const fits = ({ count, sizeBytes: used }: RecordUsage, max: RecordUsage) =>
      count + 1 <= max.count && used + sizeBytes <= max.sizeBytes;
    for (;;) {
      const isOwnerFull = !fits(store.usageOf(uid, place), resource);
      if (!isOwnerFull && fits(store.usage, definition)) return true;
      const survey = isOwnerFull
        ? surveyOf(inPlace(store.seriesOf(uid), place), () => noUse)
        : surveyOf(store.allSeries(), (where) => store.usageIn(where));
      const { oldest, kept } = survey;
      if (oldest === undefined || !fits(kept, isOwnerFull ? resource : definition)) return false;
      await this.#remove(candidateOf(oldest), signal);
    }
  }

  async #remove({ ref, uid }: PruneCandidate, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.cluster.delete(ref, { ...this.#write, uid }, signal);
    } catch (error) {
      // Another object has the name: the record is deleted.
      if (!(error instanceof KubeError) || error.code !== 'uid-mismatch') throw error;
    }
    this.#count('removed');
  }

  #records({ subject, series }: ObjectTrack): readonly StateRecord[] {
    return this.#store.recordsOf(subject.ownerUid, series);
  }

  #newest(track: ObjectTrack): StateRecord | undefined {
    return this.#records(track).at(-1);
  }

  #count(result: (typeof metricCatalogue.historyWrites.values.result)[number]): void {
    this.#writes.increment([this.#definition, result]);
  }
}

const noUse: RecordUsage = { count: 0, sizeBytes: 0 };

function* inPlace(
  all: Iterable<readonly StateRecord[]>,
  place: string,
): Iterable<readonly StateRecord[]> {
  for (const records of all) if (records[0]?.meta.namespace === place) yield records;
}

/**
 * Which record is deleted first, and what the newest records of all objects need: those are never deleted for a limit. First is the oldest
 * one of the namespace that uses most.
 */
function surveyOf(
  all: Iterable<readonly StateRecord[]>,
  usageIn: (place: string) => RecordUsage,
): {
  readonly oldest: StateRecord | undefined;
  readonly kept: RecordUsage;
} {
  let oldest: StateRecord | undefined;
  const kept = { count: 0, sizeBytes: 0 };
  for (const records of all) {
    const [first] = records;
    kept.count += 1;
    kept.sizeBytes += records.at(-1)?.sizeBytes ?? 0;
    if (first === undefined || records.length === 1) continue;
    if (oldest === undefined || isBefore(first, oldest, usageIn)) oldest = first;
  }
  return { oldest, kept };
}

function isBefore(
  one: StateRecord,
  other: StateRecord,
  usageIn: (place: string) => RecordUsage,
): boolean {
  const [more, less] = [one, other].map(({ meta }) => usageIn(meta.namespace ?? '').sizeBytes);
  if (more !== less) return (more ?? 0) > (less ?? 0);
  const [a = '', b = ''] = [one, other].map(({ meta }) => meta.creationTimestamp);
  // The server's times have no milliseconds.
  return a === b ? one.recordedAt < other.recordedAt : a < b;
}

const limit = { reason: 'LimitReached', code: 'limit-reached', kind: 'waiting' } as const;
const tooLarge: Problem = {
  ...limit,
  message: 'is larger than 1 MiB and is not recorded',
};
const noRoom: Problem = {
  ...limit,
  message: 'is not recorded: the versions of the resource or the definition reach their limit',
};
