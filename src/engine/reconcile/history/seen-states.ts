import type { StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { mayBeNewer } from '#util/resource-version.ts';
import type { ObjectTrack, PendingState } from './object-track.ts';
import { recordKindOf, type StateRecord } from './record.ts';
import type { RecordStore } from './record-store.ts';
import { recordedState } from './recorded-state.ts';

interface SeenStatesEvents {
  /** A state waits to be recorded. */
  readonly onWaiting: (track: ObjectTrack) => void;
  /** The newest state is the recorded one. */
  readonly onUnchanged: (track: ObjectTrack) => void;
}

/** Decides which of the states that were seen of an object are to be recorded. */
export class SeenStates {
  readonly #store: RecordStore;
  readonly #events: SeenStatesEvents;

  constructor(store: RecordStore, events: SeenStatesEvents) {
    this.#store = store;
    this.#events = events;
  }

  /** Adds a state, unless it equals the last one. `isOverwritten`: a restore is about to overwrite it. */
  add(track: ObjectTrack, stored: StoredObject, isOverwritten = false): void {
    const { resourceVersion = '', uid = '' } = stored.object.metadata;
    const { seenVersion } = track;
    const isSame = resourceVersion === seenVersion;
    // An older state comes too late; a restore of it is rejected, because it is the precondition.
    if (seenVersion !== undefined && !isSame && !mayBeNewer(resourceVersion, seenVersion)) return;
    if (isSame && !isOverwritten) return;
    track.seenVersion = resourceVersion;
    track.seenUid = uid;
    const state = {
      kind: 'state',
      object: recordedState(stored.object),
      uid,
      isOverwritten,
    } as const;
    const last = track.last === undefined ? this.#recorded(track) : stateIn(track.last);
    if (last === undefined || !track.isRecorded(state, last)) {
      track.push(state);
      this.#events.onWaiting(track);
    } else if (track.last === undefined) this.#events.onUnchanged(track);
  }

  /** The object does not exist any more. `uid`: undefined: that of its newest state. */
  addMissing(track: ObjectTrack, uid = track.seenUid ?? this.newest(track)?.objectUid ?? ''): void {
    // A late event of an earlier object of that name: a newer one has been seen.
    if (track.seenUid !== undefined && track.seenUid !== uid) return;
    if (track.last?.kind === 'missing') return;
    if (track.last === undefined && this.#recorded(track) === undefined) return;
    track.push({ kind: 'missing', uid });
    this.#events.onWaiting(track);
  }

  /** The newest record of the object. */
  newest({ subject, series }: ObjectTrack): StateRecord | undefined {
    return this.#store.recordsOf(subject.ownerUid, series).at(-1);
  }

  /** The recorded current state. Undefined: none, or it was deleted. */
  #recorded(track: ObjectTrack): KubeObject | undefined {
    const { kind } = this.#store.stateOf([recordKindOf(track.ref.gvk)]);
    if (kind !== 'synced') return undefined;
    const newest = this.newest(track);
    return newest?.deletedAt === undefined ? newest?.object : undefined;
  }
}

function stateIn(pending: PendingState): KubeObject | undefined {
  return pending.kind === 'state' ? pending.object : undefined;
}
