import type { Priority } from '#controller';
import type { StoredObject } from '#kube/roles.ts';
import type { FieldSteps } from '#util/field-path.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Problem } from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import type { ReadObservation } from '../watch/object-change.ts';

/** Something that waits until a time. Times are monotonic, in ms. */
export interface Entry {
  /** It is not tried, or does not run, before. */
  readonly untilMs: number;
}

/** What a ledger contains, by kind. The README of the room has the table: what each is about, and what ends it. */
export interface Entries {
  /** By identity: an apply or a patch that the server rejected. */
  readonly rejected: ApplyRejection;
  /** By identity: the reverts of changes by other managers. */
  readonly contested: Repairs;
  /** By identity: fields that are left to other managers, until they are applied again. */
  readonly ignored: IgnoredFields;
  /** By identity: an object that was recreated because of an immutable field. */
  readonly recreated: Recreation;
  /** By UID: a deletion that the server rejected. */
  readonly deletionRejected: Rejection;
  /** The status fields of the author that the server rejected. */
  readonly statusRejected: StatusRejection;
  /** A report that was left out because a member cluster is connecting. */
  readonly deferred: Entry;
  /** `schedule.every`. */
  readonly every: DueEntry;
  readonly requeueAfter: DueEntry;
  /** `onDelete.timeout`, or a result of `deleteWhen` that changes with the time. */
  readonly timeout: DueEntry;
}

export type EntryKind = keyof Entries;

/** A time at which the resource runs, whatever else runs it. */
export interface DueEntry extends Entry {
  readonly priority: Priority;
}

/** A write that the server rejected, permanently or temporarily. */
export interface Rejection extends Entry {
  readonly problem: Problem;
}

/** A rejected apply, with its inputs at the time. */
export interface ApplyRejection extends Rejection {
  readonly intent: Intent;
  /** The object before; undefined: it did not exist. */
  readonly live: StoredObject | undefined;
  readonly resource: KubeObject;
  readonly reads: ReadonlyMap<string, ReadObservation>;
  /** From then on, the same intent is sent again if another manager has changed the object. */
  readonly ifChanged: Entry;
  /** Time from the rejection until then, in ms. */
  readonly changeRetryMs: number;
}

/** Status fields of the author that the server rejected. */
export interface StatusRejection extends Rejection {
  /** Of the rejected fields. */
  readonly digest: string;
}

/** The reverts of an object to its desired state. Without a backoff, the next one waits for nothing. */
export interface Repairs extends Entry {
  /** By name, the fields that other managers changed each time. */
  readonly fields: ReadonlyMap<string, RepairedField>;
  /** Number of consecutive reverts. */
  readonly count: number;
  /** Time of the last revert. */
  readonly atMs: number;
  /** Set when other managers have changed the same fields too often. */
  readonly backoff?: RepairBackoff;
}

export interface RepairedField {
  readonly steps: FieldSteps;
  /** The applied value, shortened: complete intents of all repaired objects would take too much memory. */
  readonly want: string;
}

/** Fields are left to other managers until the backoff ends. */
export interface RepairBackoff {
  readonly message: string;
  /** The intent when it began: a later change by the user is applied at once. */
  readonly intent: Intent;
  readonly lengthMs: number;
}

/** Fields of one object that are left to other managers (`conflicts: Report`). */
export interface IgnoredFields extends Entry {
  readonly fields: readonly IgnoredField[];
  /** Another manager also took ownership labels or annotations. The next apply, without the ignored fields, is forced to regain them. */
  readonly forcesNext: boolean;
}

export interface IgnoredField {
  readonly steps: FieldSteps;
  readonly manager: string;
  /** Our value, and the value that was there. */
  readonly want: unknown;
  readonly have: unknown;
}

/** The recreation of an object because of an immutable field: it is not recreated for this intent again until then. */
export interface Recreation extends Entry {
  readonly intentHash: string;
}
