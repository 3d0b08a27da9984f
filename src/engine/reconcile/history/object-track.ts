import type { ReadPlan } from '#compile';
import type { ObjectRef } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Problem } from '../failure.ts';
import { refTo } from '../identity.ts';
import type { RecordOwner, RecordSubject } from './record.ts';
import { isSameState, isSameVersion } from './recorded-state.ts';

/** What was seen of an object and is not recorded yet. */
export type PendingState = SeenState | { readonly kind: 'missing'; readonly uid: string };

/** A state of an object. */
export interface SeenState {
  readonly kind: 'state';
  readonly object: KubeObject;
  /** UID of the object. */
  readonly uid: string;
  /** A restore is about to overwrite it: it is recorded if anything differs from the newest record. */
  readonly isOverwritten: boolean;
}

/** More records than this within {@link windowMs} are throttled. */
const maxRecords = 20;
const windowMs = 60_000;
/** Time between two records of a throttled object, in ms. */
const throttledMs = 10_000;

interface TrackOptions {
  readonly read: ReadPlan;
  readonly subject: RecordSubject;
  /** The name of its records without the version. */
  readonly series: string;
}

/** One object that is recorded for one resource: the states that wait to be written, in order. */
export class ObjectTrack {
  /** Of the revision that the resource has. */
  read: ReadPlan;
  readonly subject: RecordSubject;
  readonly series: string;
  /** The object itself. */
  readonly ref: ObjectRef;
  /** Since the last reconcile. */
  owner: RecordOwner;
  /** `resourceVersion` of the newest state that was seen. */
  seenVersion: string | undefined;
  /** UID of the newest state that was seen. */
  seenUid: string | undefined;
  /** UID of the object whose deletion was recorded last. */
  deletedUid: string | undefined;
  /** The read did not find the object, and whether it exists has been checked. */
  isAbsenceChecked = false;
  /** A restore waits for the record: it is not delayed. */
  isUrgent = false;
  /** A restore may still need the oldest record, which is kept until the next change of the object is seen. */
  holdsOldest = false;
  isThrottled = false;
  /** It is no longer recorded. */
  isDropped = false;
  /** Record names up to this version belong to others. */
  takenVersions = 0;
  /** Why the newest state is not recorded. */
  problem: Problem | undefined;
  readonly #pending: PendingState[] = [];
  #writing: PendingState | undefined;
  #waiting: (() => void)[] = [];
  /** Monotonic times of the records within the window. */
  #times: number[] = [];

  constructor(owner: RecordOwner, { read, subject, series }: TrackOptions) {
    this.owner = owner;
    this.read = read;
    this.subject = subject;
    this.series = series;
    this.ref = refTo(read.gvk, subject.namespace, subject.name);
  }

  /** Whether a state is being written. */
  get isBusy(): boolean {
    return this.#writing !== undefined;
  }

  /** Whether nothing waits and nothing is being written. */
  get isIdle(): boolean {
    return this.#pending.length === 0 && !this.isBusy;
  }

  /** The last state that waits. */
  get last(): PendingState | undefined {
    return this.#pending.at(-1);
  }

  /** Adds a state. The oldest one is dropped if more wait than are kept. */
  push(state: PendingState): void {
    this.#pending.push(state);
    const { keep = 1 } = this.read.history ?? {};
    if (this.#pending.length > Math.max(keep, 2))
      this.#pending.splice(this.#pending[0] === this.#writing ? 1 : 0, 1);
  }

  /** The next state to write; it stays the first one until {@link written}. */
  begin(): PendingState | undefined {
    this.#writing = this.#pending[0];
    return this.#writing;
  }

  /** The state that was begun is recorded, or needs no record. */
  written(): void {
    if (this.#pending[0] === this.#writing) this.#pending.shift();
  }

  /** No state is being written. */
  end(): void {
    this.#writing = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Drops what waits. */
  clear(): void {
    this.#pending.length = 0;
    if (this.#writing === undefined) this.end();
  }

  /** Drops all states but the newest one: they are too many to be recorded. */
  collapse(): void {
    this.#pending.splice(0, this.#pending.length - 1);
  }

  /** Whether a state makes no difference to an earlier one: it creates no record. */
  isRecorded(state: SeenState, earlier: KubeObject): boolean {
    if (!isSameVersion(earlier, state.object, this.read.history?.onChange)) return false;
    return !state.isOverwritten || isSameState(earlier, state.object);
  }

  /** How long the next state must wait, in ms. */
  delayMs(nowMs: number): number {
    this.#times = this.#times.filter((time) => nowMs - time < windowMs);
    const last = this.#times.at(-1);
    if (this.isUrgent || last === undefined || this.#times.length < maxRecords) return 0;
    return Math.max(0, last + throttledMs - nowMs);
  }

  noteRecord(nowMs: number): void {
    this.#times.push(nowMs);
  }

  /** Resolves when nothing waits, or when an attempt has failed. */
  settled(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
