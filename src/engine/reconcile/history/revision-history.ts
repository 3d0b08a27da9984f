import type { HistoryEntry, ReadPlan } from '#compile';
import type { CacheEvent, Informer, InformerState, KubeError, StoredObject } from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';
import { recordKeysName } from '#util/stored-names.ts';
import type { Problem } from '../failure.ts';
import type { PruneCandidate } from '../prune-candidate.ts';
import { settled } from '../watch/informer-waits.ts';
import type { HistoryRecorder, OverwrittenObject } from './history-recorder.ts';
import type { OldRecords } from './old-records.ts';
import { type RecordOwner, seriesOf } from './record.ts';
import { isKept, type RecordStore } from './record-store.ts';
import type { RecordingRevision } from './recorder-options.ts';
import { removableRecords } from './removable-records.ts';
import type { Tracks } from './tracks.ts';

/** What a revision uses of the recorder of its definition. */
export interface RevisionHistoryParts {
  readonly recorder: HistoryRecorder;
  readonly store: RecordStore;
  readonly tracks: Tracks;
  readonly old: OldRecords;
  readonly clock: Clock;
}

/** The versions of a definition as one of its active revisions reads and records them. */
export class RevisionHistory {
  readonly #revision: RecordingRevision;
  readonly #parts: RevisionHistoryParts;

  constructor(revision: RecordingRevision, parts: RevisionHistoryParts) {
    this.#revision = revision;
    this.#parts = parts;
    parts.store.watch(revision.history.recordKinds);
  }

  /** Starts to write. Resolves when the records have been listed, or the first attempt failed. */
  async start(signal: AbortSignal): Promise<void> {
    const { recorder, store } = this.#parts;
    recorder.run();
    await Promise.all(this.#informers.map((informer) => settled(informer, signal)));
    await store.keys.settled(signal);
    recorder.checkOwnerless();
  }

  /** What other revisions record goes on. */
  stop(): void {
    this.#parts.recorder.detach(this.#revision);
  }

  /** `history` in expressions of the resource with this UID. Undefined: not listed yet. */
  entries(uid: string): readonly HistoryEntry[] | undefined {
    const { store, old } = this.#parts;
    store.keys.want();
    return this.#state.kind === 'synced' && !old.isUpgrading(uid)
      ? store.entriesOf(uid, this.#revision.plan)
      : undefined;
  }

  /** See {@link HistoryRecorder.observe}. */
  observe(owner: RecordOwner, read: ReadPlan, objects: readonly StoredObject[]): void {
    this.#parts.recorder.observe(this.#revision, owner, { read, objects });
  }

  /** See {@link HistoryRecorder.noteEvent}. */
  noteEvent(key: string, read: ReadPlan, event: CacheEvent): void {
    this.#parts.recorder.noteEvent(key, read, event);
  }

  /** Records the state of an object that a restore is about to overwrite. Returns why it cannot be recorded. */
  async ensureRecorded(
    owner: RecordOwner,
    read: ReadPlan,
    object: OverwrittenObject,
  ): Promise<Problem | undefined> {
    const { recorder } = this.#parts;
    const problem = await recorder.ensureRecorded(this.#revision, owner, { ...object, read });
    const state = this.#state;
    return state.kind === 'failing' ? recorder.failureOf(state.error) : problem;
  }

  /** Are versions kept of what the read finds? */
  keeps(read: ReadPlan): boolean {
    return read.history !== undefined;
  }

  /** Whether a version of the object is stored for the resource. */
  isRecorded(uid: string, read: ReadPlan, object: Omit<OverwrittenObject, 'live'>): boolean {
    const { plan } = this.#revision;
    const subject = { ownerUid: uid, readId: read.id, ...object };
    const records = this.#parts.store.recordsOf(uid, seriesOf(plan.name, subject));
    return records.some((record) => isKept(plan, record));
  }

  /** Errors of the watches on records. */
  watchErrors(): readonly { readonly error: KubeError; readonly literalName?: string }[] {
    const { keys } = this.#parts.store;
    const failures = this.#informers.flatMap(({ state }) =>
      state.kind === 'failing' ? [{ error: state.error }] : [],
    );
    if (keys.state.kind !== 'failing') return failures;
    return [{ error: keys.state.error, literalName: recordKeysName }, ...failures];
  }

  /** Why objects of the resource are not recorded. */
  problems(key: string): readonly Problem[] {
    const { recorder } = this.#parts;
    const state = this.#state;
    if (state.kind === 'failing') return [recorder.failureOf(state.error)];
    return recorder.problems(key);
  }

  /** Records that are no longer to be kept: expired, or because settings changed. */
  removable(uid: string): readonly PruneCandidate[] {
    if (this.#state.kind !== 'synced') return [];
    const { store, tracks, clock } = this.#parts;
    const { plan } = this.#revision;
    return removableRecords(uid, { store, tracks, plan, nowMs: clock.nowMs() });
  }

  /** Deletes records. Returns the first error, if any. */
  remove(records: readonly PruneCandidate[], signal: AbortSignal): Promise<Problem | undefined> {
    return this.#parts.recorder.remove(records, signal);
  }

  /** A missing right was granted: tries again at once. */
  retry(key: string): void {
    this.#parts.recorder.retry(key);
  }

  /** Stops recording for a resource. Resolves when no write of it is in flight. */
  forget(key: string): Promise<void> {
    return this.#parts.recorder.forget(key);
  }

  get #informers(): readonly Informer[] {
    return this.#parts.store.informersOf(this.#revision.history.recordKinds);
  }

  /** Records are never treated as missing before they have been listed. */
  get #state(): InformerState {
    return this.#parts.store.stateOf(this.#revision.history.recordKinds);
  }
}
