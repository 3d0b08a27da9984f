import type { ConditionContent } from '#util/condition.ts';
import type { Json } from '#util/json.ts';
import type { ObjectMeta } from '#util/kube-object.ts';
import type { Answer, Failure, Found, Role } from './answer.ts';
import type { ObjectPlan } from './plan.ts';
import { type FarRequest, type ObjectRecord, printRecord } from './record.ts';

/** Everything that `decide` depends on. */
export interface View {
  readonly metadata: ObjectMeta;
  readonly approvals: Approvals;
  /** Undefined: the endpoint does not exist. */
  readonly endpoint: EndpointView | undefined;
  /** What the spec asks for, or why it cannot be followed. */
  readonly plan: ObjectPlan | Blocked;
  /** Of the spec, also if the rest of it is not valid. */
  readonly deletion: {
    readonly policy: 'Delete' | 'Orphan';
    readonly whenGone: 'Wait' | 'Orphan';
    /** When the namespace, which is being deleted, is held no longer, in ms since the epoch. Undefined: it may be held. */
    readonly untilMs?: number | undefined;
  };
  /** Undefined: the annotation is damaged. */
  readonly record: ObjectRecord | undefined;
  readonly writes: WriteHistory;
  readonly seen: Seen;
  readonly nowMs: number;
  /** When a request that writes may last have been sent without an answer, in ms since the epoch. */
  readonly lostAtMs: number;
  /**
   * The HttpObject to which the object in the API belongs. Undefined: to this one. `recorded`: the object of the record, `planned`: also
   * that of the spec.
   */
  readonly conflictOf: (which: 'recorded' | 'planned') => string | undefined;
  /** The other HttpObject that owns the object with an id. Undefined: none does. */
  readonly ownerOf: (id: string) => string | undefined;
}

/** Updates whose effect did not last. */
export interface WriteHistory {
  /** In a row. */
  readonly lost: number;
  /** Whether another one may be sent although three were lost. */
  readonly isDue: boolean;
}

/** Annotations of users. */
export interface Approvals {
  readonly endpoint: string | undefined;
  /** The id of the object that a pending create made. */
  readonly id: string | undefined;
  /** Key of a create that created nothing, or whose object is created again. */
  readonly create: string | undefined;
  readonly givesUp: boolean;
}

export interface EndpointView {
  readonly uid: string;
  /** Origin and base path. */
  readonly location: string;
  readonly isTerminating: boolean;
  readonly checkPath: string | undefined;
  readonly timeoutMs: number;
  /** Undefined: requests can be sent. */
  readonly blocked: Blocked | undefined;
}

/** Why nothing is sent. */
export interface Blocked {
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** The endpoint or its credentials are missing: `whenGone` decides at deletion. */
  readonly isGone?: boolean;
}

/** What this reconcile has done. */
export interface Seen {
  /** Answers since the last request that writes, and the answer to that one. */
  readonly answers: Readonly<Partial<Record<Role, Answer>>>;
  /** Key of the pending create that this reconcile has stored. */
  readonly armed?: string;
  /** The object was created or adopted. */
  readonly isNew?: boolean;
  /** The object, as the answer to its create has it. */
  readonly created?: Json;
  /** The Secret for values of the answer exists, without values. */
  readonly isSecretPrepared?: boolean;
  /** Whether the Secret has the values of the answer to the pending or last create, and the id that is stored with them. */
  readonly secret?: SecretState;
}

export type SecretState =
  | { readonly kind: 'stored'; readonly id?: string }
  | { readonly kind: 'lost' };

/** What the reconcile does next. */
export type Step =
  /** Stores the record, with the finalizer. `arms`: the key of a create that is sent next. */
  | { readonly kind: 'store'; readonly record: ObjectRecord; readonly arms?: string }
  /** Makes sure that the Secret for values of the answer exists, without values. */
  | { readonly kind: 'prepareSecret' }
  /** Stores the values of the answer to `create` in the Secret, with the id. */
  | { readonly kind: 'storeSecret'; readonly key: string; readonly id: string | undefined }
  /** Reads whether the Secret has the values of the answer to a create. Undefined: this object was not created. */
  | { readonly kind: 'recallSecret'; readonly key: string | undefined }
  | { readonly kind: 'send'; readonly role: Role; readonly request: FarRequest }
  /** Removes the record and the finalizer. */
  | { readonly kind: 'release'; readonly note: string }
  | { readonly kind: 'settle'; readonly state: Settled };

/** The end of a reconcile. */
export interface Settled {
  readonly synced: Omit<ConditionContent, 'type'>;
  /** Whether the last observation shows the current object. If not, its values are kept. */
  readonly isObserved: boolean;
  readonly next: Next;
}

/** When the object is reconciled again without an event. */
export type Next =
  /** At the next scheduled observation, or after `withinMs` if that is sooner. */
  | { readonly kind: 'look'; readonly withinMs?: number }
  | { readonly kind: 'after'; readonly ms: number }
  | { readonly kind: 'backoff'; readonly baseDelayMs: number; readonly maxDelayMs: number }
  | { readonly kind: 'event' };

export const nothingSeen: Seen = { answers: {} };

export function isBlocked(plan: ObjectPlan | Blocked): plan is Blocked {
  return 'reason' in plan;
}

/** The failure of a role in this reconcile. */
export function failureIn({ answers }: Seen, role: Role): Failure | undefined {
  const answer = answers[role];
  return answer?.kind === 'failed' ? answer.failure : undefined;
}

/** What `find` found. */
export function foundIn({ answers: { find } }: Seen): readonly Found[] {
  return find?.kind === 'ok' ? (find.found ?? []) : [];
}

/** What was seen, after an answer: a request that writes invalidates earlier observations. Pure. */
export function seenAfter(seen: Seen, role: Role, answer: Answer): Seen {
  const writes = role === 'create' || role === 'update' || role === 'delete';
  if (!writes) return { ...seen, answers: { ...seen.answers, [role]: answer } };
  const { created: _, ...before } = seen;
  const created = role === 'create' && answer.kind === 'ok' ? answer.result : undefined;
  return {
    ...before,
    answers: { [role]: answer },
    ...(created !== undefined && { created }),
  };
}

/** What was seen, after the record was stored: answers about another object do not count. Pure. */
export function seenAfterStore(
  seen: Seen,
  before: ObjectRecord | undefined,
  { record, arms }: Extract<Step, { kind: 'store' }>,
): Seen {
  const isSame = placeOf(before) === placeOf(record);
  const isNew = seen.isNew === true || (record.isOwned === true && before?.isOwned !== true);
  const armed = arms ?? seen.armed;
  const isCreated = before?.pending !== undefined && record.isOwned === true;
  const kept: Seen = isSame ? seen : isCreated ? createdSeen(seen) : nothingSeen;
  // The answer to another create has other values for the Secret.
  const { secret: _, ...others } = kept;
  return {
    ...(arms === undefined ? kept : others),
    ...(armed !== undefined && { armed }),
    ...(isNew && { isNew }),
  };
}

/** The object has its id now. */
function createdSeen({ created }: Seen): Seen {
  return { ...nothingSeen, ...(created !== undefined && { created }) };
}

/** Which object it is. */
function placeOf(record: ObjectRecord | undefined): string {
  const { identity } = record ?? {};
  if (identity === undefined) return '';
  const { find: _, delete: __, ...place } = identity;
  return printRecord({ identity: place });
}
