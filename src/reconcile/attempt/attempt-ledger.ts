import type { StoredObject } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Problem } from '../failure.ts';
import type { FieldSteps } from '../intent/field-steps.ts';
import type { Intent } from '../intent/intent.ts';
import type { ReadSight } from '../wake/object-change.ts';
import { Pace } from './pace.ts';

/**
 * The history of what the passes of one resource have tried to write: what the server rejected, what others changed back, what was
 * replaced, how often passes wrote. The limiter decides by it what may be tried now. In memory only: losing it costs requests.
 */
export class AttemptLedger {
  /** When the resource may run. */
  readonly pace = new Pace();
  readonly status: StatusAttempts = { overtaken: 0, rejection: undefined, made: undefined };
  /** By topic: how the server's answer to our own apply differed from the intent (engine.md section 5, step 3). */
  readonly serverMade = new Map<string, string>();
  /**
   * By topic, for children that may be held or wait: the intent that was applied last. Tells drift from a change of intent,
   * and repairs it meanwhile.
   */
  readonly appliedIntents = new Map<string, Intent>();
  /** By identity. */
  readonly #objects = new Map<string, ObjectAttempts>();
  /** By UID: deletions that the server has rejected. */
  readonly #deletions = new Map<string, Rejection>();

  /** What is remembered of the applies of an object; undefined: nothing that could stand against the next one. */
  of({ identity }: Pick<Intent, 'identity'>): ObjectAttempts | undefined {
    return this.#objects.get(identity);
  }

  /** Changes some of what is remembered of an object; undefined forgets that part. */
  note({ identity }: Pick<Intent, 'identity'>, change: Partial<ObjectAttempts>): void {
    const attempts = { ...(this.#objects.get(identity) ?? nothing), ...change };
    const isEmpty = Object.values(attempts).every((part) => part === undefined);
    if (isEmpty) this.#objects.delete(identity);
    else this.#objects.set(identity, attempts);
  }

  deletionOf(uid: string): Rejection | undefined {
    return this.#deletions.get(uid);
  }

  noteDeletion(uid: string, rejection: Rejection): void {
    this.#deletions.set(uid, rejection);
  }

  /** The answers to applies of an object are of one that was deleted. */
  forgetAnswers(topic: string): void {
    this.serverMade.delete(topic);
    this.appliedIntents.delete(topic);
  }

  /** A missing right has been granted: what was rejected for the want of one may be tried again. */
  forgetMissingRights(): void {
    for (const [identity, { rejection }] of this.#objects) {
      if (rejection?.problem.right !== undefined) this.note({ identity }, { rejection: undefined });
    }
    for (const [uid, { problem }] of this.#deletions) {
      if (problem.right !== undefined) this.#deletions.delete(uid);
    }
  }

  /** Forgets all but what these questions are answered by yes: names and UIDs may never come back. */
  retain({ isWanted, isAnswerKept, isToGo }: Retained): void {
    for (const answers of [this.serverMade, this.appliedIntents]) {
      for (const topic of answers.keys()) if (!isAnswerKept(topic)) answers.delete(topic);
    }
    for (const uid of this.#deletions.keys()) if (!isToGo(uid)) this.#deletions.delete(uid);
    for (const identity of this.#objects.keys()) {
      if (!isWanted(identity)) this.#objects.delete(identity);
    }
  }
}

/** What of a ledger is still of use. */
export interface Retained {
  readonly isWanted: (identity: string) => boolean;
  readonly isAnswerKept: (topic: string) => boolean;
  /** Is the object with this UID to be deleted? */
  readonly isToGo: (uid: string) => boolean;
}

/** What is remembered of the applies of one object. */
export interface ObjectAttempts {
  readonly rejection: ApplyRejection | undefined;
  readonly repairs: Repairs | undefined;
  readonly ignored: IgnoredFields | undefined;
  readonly replacement: Replacement | undefined;
}

const nothing: ObjectAttempts = {
  rejection: undefined,
  repairs: undefined,
  ignored: undefined,
  replacement: undefined,
};

/** A write that the server has rejected, for good or for a while. Times are monotonic. */
export interface Rejection {
  readonly problem: Problem;
  readonly atMs: number;
  /** Until then it is not tried again, unless something that it depends on changes. */
  readonly untilMs: number;
}

/** The apply of an intent that the server has rejected, and the world as it was then. */
export interface ApplyRejection extends Rejection {
  readonly intent: Intent;
  /** The object as it was; undefined: it was to be created. */
  readonly live: StoredObject | undefined;
  readonly resource: KubeObject;
  readonly reads: ReadonlyMap<string, ReadSight>;
}

/** How often an object was reverted to what is wanted of it. */
export interface Repairs {
  /** What others had changed each time, by name. */
  readonly fields: ReadonlyMap<string, RepairedField>;
  /** How often in a row. */
  readonly inARow: number;
  /** When it was reverted last. Monotonic. */
  readonly atMs: number;
  /** Once others have changed the same fields too often. */
  readonly backoff?: RepairBackoff;
}

export interface RepairedField {
  readonly steps: FieldSteps;
  /** What we put there, shortened: not the intent itself, which would be kept for every object that was ever changed. */
  readonly want: string;
}

/** Others have a field, or may take it, until the time is over. */
export interface RepairBackoff {
  readonly message: string;
  /** What was wanted when it began: what the user changes since is not held up by it. */
  readonly intent: Intent;
  readonly lengthMs: number;
  /** Monotonic. */
  readonly untilMs: number;
}

/** Fields of one object that are left to the managers that took them (`conflicts: Report`). */
export interface IgnoredFields {
  readonly fields: readonly IgnoredField[];
  /** When the server last named them. Monotonic. */
  readonly atMs: number;
  /** Another manager took our bookkeeping too, which is never left to anybody: the next apply, without the fields above, is forced. */
  readonly takesBack: boolean;
}

export interface IgnoredField {
  readonly steps: FieldSteps;
  readonly manager: string;
  /** What we would have, and what was there instead. */
  readonly want: unknown;
  readonly have: unknown;
}

/** An object was deleted and created anew because a field of it cannot be changed. */
export interface Replacement {
  /** For which intent. */
  readonly intentHash: string;
  /** Monotonic. */
  readonly atMs: number;
}

/** What is remembered of the writes of the status. */
export interface StatusAttempts {
  /** So many reports in a row were left to the pass that follows. */
  overtaken: number;
  /** Set while the server rejects the author's status fields. */
  rejection: StatusRejection | undefined;
  /** How the server's answer to our own status differed from it. */
  made: string | undefined;
}

/** Author's status fields that the server has rejected: not sent again for a while. */
export interface StatusRejection extends Rejection {
  /** Of the fields that were rejected. */
  readonly digest: string;
}

/** What of a pass decides whether a write may be tried. */
export interface Attempting {
  readonly context: {
    readonly clock: Clock;
    readonly plan: {
      readonly definition: {
        readonly controller: { readonly retry: { readonly permanentMs: number } };
      };
    };
  };
  readonly state: { readonly attempts: AttemptLedger };
}
