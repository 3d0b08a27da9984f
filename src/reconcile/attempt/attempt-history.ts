import type { StoredObject } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Problem } from '../failure.ts';
import type { FieldSteps } from '../intent/field-steps.ts';
import type { Intent } from '../intent/intent.ts';
import type { ReadObservation } from '../watch/object-change.ts';
import { ReconcilePace } from './pace.ts';

/**
 * The attempted writes of one resource: rejections by the server, reverts of other managers' changes, replacements, and the number of
 * writes. The limiter decides from it what may be tried now. In memory only: losing it costs requests.
 */
export class AttemptHistory {
  /** When the resource may run. */
  readonly pace = new ReconcilePace();
  readonly status: StatusAttempts = {
    superseded: 0,
    deferredSinceMs: undefined,
    rejection: undefined,
    serverDefaults: undefined,
  };
  /** By identity: how the server's response to our last apply differed from the intent. */
  readonly serverDefaults = new Map<string, string>();
  /** By identity, for children that may be held or wait: the last applied intent. It distinguishes drift from a new intent, to repair drift. */
  readonly appliedIntents = new Map<string, Intent>();
  /** By identity. */
  readonly #objects = new Map<string, ObjectAttempts>();
  /** By UID: deletions that the server has rejected. */
  readonly deletions = new Map<string, Rejection>();

  /** The attempts for an object; undefined: nothing blocks the next apply. */
  of({ identity }: Pick<Intent, 'identity'>): ObjectAttempts | undefined {
    return this.#objects.get(identity);
  }

  /** Updates parts of the attempts for an object; undefined removes a part. */
  update({ identity }: Pick<Intent, 'identity'>, change: Partial<ObjectAttempts>): void {
    const attempts = { ...(this.#objects.get(identity) ?? noAttempts), ...change };
    const isEmpty = Object.values(attempts).every((part) => part === undefined);
    if (isEmpty) this.#objects.delete(identity);
    else this.#objects.set(identity, attempts);
  }

  /** Forgets the responses to applies of a deleted object. */
  forgetAnswers(identity: string): void {
    this.serverDefaults.delete(identity);
    this.appliedIntents.delete(identity);
  }

  /** Forgets rejections for a missing right, or for a cause that nothing shows: one may have ended. */
  forgetObstacles(): void {
    for (const [identity, { rejection }] of this.#objects) {
      if (rejection !== undefined && hasObstacle(rejection))
        this.update({ identity }, { rejection: undefined });
    }
    for (const [uid, rejection] of this.deletions) {
      if (hasObstacle(rejection)) this.deletions.delete(uid);
    }
  }

  /** Forgets everything that these filters do not keep: names and UIDs may never return. */
  retain({ isDesired, isExisting, isLeaving }: RetainFilters): void {
    for (const answers of [this.serverDefaults, this.appliedIntents]) {
      for (const identity of answers.keys())
        if (!isDesired(identity) && !isExisting(identity)) answers.delete(identity);
    }
    for (const uid of this.deletions.keys()) if (!isLeaving(uid)) this.deletions.delete(uid);
    for (const identity of this.#objects.keys())
      if (!isDesired(identity)) this.#objects.delete(identity);
  }
}

function hasObstacle({ problem: { right, cause } }: Rejection): boolean {
  return right !== undefined || cause !== undefined;
}

/** What {@link AttemptHistory.retain} keeps. */
interface RetainFilters {
  readonly isDesired: (identity: string) => boolean;
  /** Is it a child, desired or not, or the target of a patch? The server's answers about it are kept. */
  readonly isExisting: (identity: string) => boolean;
  /** Is the object with this UID still to be deleted? */
  readonly isLeaving: (uid: string) => boolean;
}

/** The attempts to apply one object. */
interface ObjectAttempts {
  readonly rejection: ApplyRejection | undefined;
  readonly repairs: Repairs | undefined;
  readonly ignored: IgnoredFields | undefined;
  readonly replacement: Replacement | undefined;
}

const noAttempts: ObjectAttempts = {
  rejection: undefined,
  repairs: undefined,
  ignored: undefined,
  replacement: undefined,
};

/** A write that the server rejected, permanently or temporarily. Times are monotonic. */
export interface Rejection {
  readonly problem: Problem;
  readonly atMs: number;
  /** It is not retried before, unless one of its inputs changes. */
  readonly untilMs: number;
}

/** A rejected apply, with its inputs at the time. */
export interface ApplyRejection extends Rejection {
  readonly intent: Intent;
  /** The object before; undefined: it did not exist. */
  readonly live: StoredObject | undefined;
  readonly resource: KubeObject;
  readonly reads: ReadonlyMap<string, ReadObservation>;
  /** Time from the rejection until a change of the object by another manager has the same intent sent again, in ms. */
  readonly changeRetryMs: number;
}

/** The reverts of an object to its desired state. */
export interface Repairs {
  /** By name, the fields that other managers changed each time. */
  readonly fields: ReadonlyMap<string, RepairedField>;
  /** Number of consecutive reverts. */
  readonly count: number;
  /** Time of the last revert. Monotonic. */
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
  /** Monotonic. */
  readonly untilMs: number;
}

/** Fields of one object that are left to other managers (`conflicts: Report`). */
export interface IgnoredFields {
  readonly fields: readonly IgnoredField[];
  /** When the server last named them. Monotonic. */
  readonly atMs: number;
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

/** The recreation of an object because of an immutable field. */
export interface Replacement {
  /** For which intent. */
  readonly intentHash: string;
  /** Monotonic. */
  readonly atMs: number;
}

/** The attempts to write the status. */
interface StatusAttempts {
  /** Number of consecutive reports that were left to the following pass. */
  superseded: number;
  /** Monotonic time of the first report that was left out because a member cluster is connecting. */
  deferredSinceMs: number | undefined;
  /** Set while the server rejects the author's status fields. */
  rejection: StatusRejection | undefined;
  /** How the server's response to our last status differed from it. */
  serverDefaults: string | undefined;
}

/** Status fields of the author that the server rejected: not sent again for a while. */
export interface StatusRejection extends Rejection {
  /** Of the rejected fields. */
  readonly digest: string;
}

/** The parts of a pass that the limiter needs. */
export interface AttemptContext {
  readonly context: {
    readonly clock: Clock;
    readonly plan: {
      readonly definition: {
        readonly controller: { readonly retry: { readonly permanentMs: number } };
      };
    };
  };
  readonly state: { readonly attempts: AttemptHistory };
}
