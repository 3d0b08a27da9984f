import type { HistoryEntry, ReadPlan } from '../../compile/index.ts';
import type { CacheEvent, InformerState, StoredObject } from '../../kube/roles.ts';
import type { PruneCandidate } from '../deletion-guard.ts';
import type { Problem } from '../failure.ts';
import type { WaitingObject } from './object-track.ts';
import type { RecordOwner } from './record.ts';

/** An object that is about to be overwritten, or created. */
export interface OverwrittenObject {
  readonly namespace: string | undefined;
  readonly name: string;
  /** Undefined: it does not exist. */
  readonly live: StoredObject | undefined;
}

/** States of what a resource reads that were seen and are not recorded yet. */
export interface WaitingStates {
  readonly owner: RecordOwner;
  readonly objects: readonly WaitingObject[];
}

/** The versions of a definition's reads, as reconciles use them. */
export interface History {
  /** Records are never treated as missing before they have been listed. */
  readonly state: InformerState;
  /** `history` in expressions of the resource with this UID. Undefined: not listed yet. */
  entries(uid: string): readonly HistoryEntry[] | undefined;
  /** The resource reads these objects, all that the read finds: from now on their changes are recorded. */
  observe(owner: RecordOwner, read: ReadPlan, objects: readonly StoredObject[]): void;
  /** An object that the resource reads changed or was deleted. Ignored before {@link observe}. */
  noteEvent(key: string, read: ReadPlan, event: CacheEvent): void;
  /** Records the state of an object that a restore is about to overwrite. Returns why it cannot be recorded. */
  ensureRecorded(
    owner: RecordOwner,
    read: ReadPlan,
    object: OverwrittenObject,
  ): Promise<Problem | undefined>;
  /** Whether a version of the object is stored for the resource. */
  isRecorded(uid: string, read: ReadPlan, object: Omit<OverwrittenObject, 'live'>): boolean;
  /** Why objects of the resource are not recorded. */
  problems(key: string): readonly Problem[];
  /** Records that are no longer to be kept: expired, or because settings changed. */
  removable(uid: string): readonly PruneCandidate[];
  /** Deletes records. Returns the first error, if any. */
  remove(records: readonly PruneCandidate[], signal: AbortSignal): Promise<Problem | undefined>;
  /** A missing right was granted: tries again at once. */
  retry(key: string): void;
  /** Stops recording for a resource. Resolves when no write of it is in flight. */
  forget(key: string): Promise<void>;
}

/** Versions that can be read, without recording or deleting anything: for previews and plans. */
export function readOnlyHistory(history: History): History {
  return {
    get state() {
      return history.state;
    },
    entries: (uid) => history.entries(uid),
    observe: () => undefined,
    noteEvent: () => undefined,
    ensureRecorded: async () => undefined,
    isRecorded: (...subject) => history.isRecorded(...subject),
    problems: () => [],
    removable: (uid) => history.removable(uid),
    remove: async () => undefined,
    retry: () => undefined,
    forget: async () => undefined,
  };
}
