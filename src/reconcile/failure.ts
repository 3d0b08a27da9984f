import type { RenderFailure } from '../compile/index.ts';
import type { AccessRight, KubeError, KubeErrorCode } from '../kube/roles.ts';
import { apiVersionOf, type Gvk } from '../util/gvk.ts';
import { type Confidence, fieldTexts, isNameOpen } from './secrecy.ts';

/** Reasons of the `Ready` condition that stand for something in the way (definition.md section 5). */
export type ProblemReason =
  | 'RenderFailed'
  | 'LimitReached'
  | 'Forbidden'
  | 'Conflict'
  | 'ApplyFailed'
  | 'Contested'
  | 'Terminating'
  | 'DefinitionBroken'
  | 'KindMissing'
  | 'Waiting';

/** What stands in the way of one child, of a read or of the status, in the words of the report. */
export interface Problem {
  readonly reason: ProblemReason;
  /** Stable text for people: no times, no random parts, never a value of a Secret. */
  readonly message: string;
  /** Code of the KubeError or RenderFailure; the reason where there is none. */
  readonly code: string;
  /** `waiting` is woken by an event; `permanent` is tried again after `retry.permanent`; `temporary` with growing delays. */
  readonly kind: 'waiting' | 'permanent' | 'temporary';
  /** Who owns the object in the way, for `Conflict`. */
  readonly owner?: string;
  /** What is waited for, one by one. */
  readonly on?: readonly string[];
  /** What the queue is told of a temporary problem. */
  readonly error?: KubeError;
  /** For a temporary problem that does not go soon: delays of its own instead of those of `error`. */
  readonly slow?: SlowRetry;
  /** The right that is missing: when it comes, the resource is run again. */
  readonly right?: AccessRight;
  /** When to look again, in ms from now, where that is not `retry.permanent`. */
  readonly againAfterMs?: number;
  /** Only some fields are not as wanted: the object is there, and what other objects are to go is known. */
  readonly isPartial?: boolean;
}

/** Growing delays between tries, in ms. */
export interface SlowRetry {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** A quota that is used up, a namespace that is on its way out: nothing is gained by asking every few milliseconds. */
const slowRetry: SlowRetry = { firstMs: 5_000, mostMs: 300_000 };

/** The server may quote a whole value, or name each of a thousand fields: a condition and an Event need no more. */
const maxServerCharacters = 512;

interface FailureRow {
  readonly reason: ProblemReason;
  /** What people read; undefined: what the server said (stable for these codes). */
  readonly words?: string;
  readonly slow?: SlowRetry;
}

/** Every code of a failed request, once. Whether it is permanent says {@link KubeError.isPermanent}. */
const failures: Readonly<Record<KubeErrorCode, FailureRow>> = {
  'not-found': { reason: 'ApplyFailed', words: 'The object is not there any more' },
  'kind-missing': { reason: 'KindMissing' },
  'already-exists': { reason: 'ApplyFailed', words: 'The object was created by somebody else' },
  conflict: { reason: 'ApplyFailed', words: 'The object was changed at the same time' },
  'field-conflict': { reason: 'ApplyFailed', words: 'Another manager owns a field' },
  'uid-mismatch': { reason: 'ApplyFailed', words: 'The object was replaced at the same time' },
  forbidden: { reason: 'Forbidden' },
  denied: { reason: 'ApplyFailed' },
  'namespace-terminating': {
    reason: 'Terminating',
    words: 'The namespace is being deleted: nothing can be made in it',
    slow: slowRetry,
  },
  'quota-exceeded': { reason: 'ApplyFailed', slow: slowRetry },
  unauthorized: { reason: 'Forbidden', words: 'The API server does not accept the credentials' },
  gone: { reason: 'ApplyFailed', words: 'The API server answered "gone"' },
  'too-many-requests': { reason: 'ApplyFailed', words: 'The API server is overloaded' },
  unavailable: { reason: 'ApplyFailed', words: 'The API server is unavailable' },
  rejected: { reason: 'ApplyFailed' },
  'too-large': { reason: 'ApplyFailed', words: 'The object is too large' },
  timeout: { reason: 'ApplyFailed', words: 'The API server did not answer in time' },
  'connection-lost': { reason: 'ApplyFailed', words: 'The connection to the API server broke' },
  aborted: { reason: 'ApplyFailed', words: 'The runtime is stopping' },
  'webhook-failed': { reason: 'ApplyFailed' },
  'server-error': { reason: 'ApplyFailed', words: 'The API server failed' },
  unexpected: { reason: 'ApplyFailed', words: 'The API server gave an unexpected answer' },
};

export interface FailureContext {
  /** The object. Where it may hold values of a Secret, the server's words are cut to the reason and to fields that the schema names. */
  readonly about: Confidence;
  /** The kind that was asked for, to name it when it is missing. */
  readonly gvk?: Gvk;
  /** The definition asks for objects of this name only. */
  readonly literalName?: string | undefined;
}

/** A failed request as a problem. */
export function problemOfRequest(
  error: KubeError,
  { about, gvk, literalName }: FailureContext,
): Problem {
  const { code } = error;
  const right = rightOf(error, about);
  const { reason, words, slow } = failures[code];
  if (code === 'kind-missing') {
    const which = gvk === undefined ? 'this kind' : `kind "${gvk.kind}" of "${apiVersionOf(gvk)}"`;
    const message = `The cluster does not serve ${which}`;
    // One server of several may be behind: the informer that found the kind would wake nobody.
    return { reason, message, code, kind: 'temporary', error };
  }
  if (right !== undefined) {
    const kind = error.isPermanent ? 'permanent' : 'temporary';
    const problem = { reason, message: rightText(right, literalName), code, kind, right } as const;
    return kind === 'permanent' ? problem : { ...problem, error };
  }
  const message = words ?? cutWords(refusalText(error, about), maxServerCharacters);
  if (error.isPermanent) return { reason, message, code, kind: 'permanent' };
  if (slow !== undefined) return { reason, message, code, kind: 'temporary', slow };
  return { reason, message, code, kind: 'temporary', error };
}

function rightOf({ right }: KubeError, about: Confidence): AccessRight | undefined {
  return right === undefined || isNameOpen(about) ? right : { ...right, isPrivate: true };
}

/**
 * What is missing, and the rule that would give it: for the status of resources and of definitions. `literalName`: the only one that is
 * asked for, by the definition's own words; that of `right` may be computed.
 */
export function rightText(right: AccessRight, literalName?: string): string {
  const { verb, group, resource, subresource } = right;
  const path = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = placeText(right);
  const named = group === '' ? path : `${path}.${group}`;
  const verbs = verbsBeside(verb, subresource).map((each) => `"${each}"`);
  const names = literalName === undefined ? '' : ` resourceNames: ["${literalName}"],`;
  const rule = `{ apiGroups: ["${group}"], resources: ["${path}"],${names} verbs: [${verbs.join(', ')}] }`;
  return `The runtime may not ${verb} ${named} ${where}; a role needs the rule ${rule}`;
}

function placeText({ namespace, isPrivate }: AccessRight): string {
  if (namespace === undefined) return 'at the cluster scope';
  return isPrivate === true ? 'in its namespace' : `in namespace "${namespace}"`;
}

/** What is needed together: an apply creates as well as patches, an informer lists and then watches. */
function verbsBeside(verb: string, subresource: string | undefined): readonly string[] {
  if (subresource !== undefined) return [verb];
  const together = [
    ['create', 'patch'],
    ['list', 'watch'],
  ].find((verbs) => verbs.includes(verb));
  return together ?? [verb];
}

function refusalText(error: KubeError, about: Confidence): string {
  const { immutableFields } = error;
  if (immutableFields.length > 0) {
    const fields = fieldTexts(immutableFields, about).join(', ') || 'A field';
    return `${fields} cannot be changed in an object that exists: take the change back, or delete the object so that it is made anew`;
  }
  return about.secrecy === 'none' ? serverWords(error) : reasonAndFields(error, about);
}

const limitCodes: ReadonlySet<RenderFailure['code']> = new Set([
  'limit-reached',
  'budget-exceeded',
]);

/** Something that could not be rendered, as a problem. Permanent: only another input mends it. */
export function problemOfRender({ code, field, message }: RenderFailure): Problem {
  return {
    reason: limitCodes.has(code) ? 'LimitReached' : 'RenderFailed',
    // The limits of the reconcile are not those of a field.
    message:
      code === 'budget-exceeded' || message.includes(field) ? message : `${field}: ${message}`,
    code,
    kind: 'permanent',
  };
}

/** Something that is waited for. */
export function problemOfWaiting(on: readonly string[]): Problem {
  const distinct = [...new Set(on)].sort();
  return {
    reason: 'Waiting',
    message: `Waiting for ${distinct.join(', ')}`,
    code: 'waiting',
    kind: 'waiting',
    on: distinct,
  };
}

function serverWords(error: KubeError): string {
  if (error.causes.length === 0) return error.message;
  return error.causes
    .map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`))
    .join('; ');
}

function reasonAndFields(error: KubeError, about: Confidence): string {
  const fields = fieldTexts(
    error.causes.flatMap(({ field }) => field ?? []),
    about,
  );
  // A webhook may write into the reason whatever it likes.
  const reason = reasons.has(error.reason ?? '') ? error.reason : error.code;
  return fields.length === 0 ? `${reason}` : `${reason}: ${fields.join(', ')}`;
}

/** Those that an API server gives of its own. */
const reasons: ReadonlySet<string> = new Set([
  'AlreadyExists',
  'BadRequest',
  'Conflict',
  'Expired',
  'Forbidden',
  'Gone',
  'InternalError',
  'Invalid',
  'MethodNotAllowed',
  'NotAcceptable',
  'NotFound',
  'RequestEntityTooLarge',
  'ServerTimeout',
  'ServiceUnavailable',
  'Timeout',
  'TooManyRequests',
  'Unauthorized',
  'UnsupportedMediaType',
]);

/** At most `maxCharacters` of a text: cut at a word where there is one to cut at, with an ellipsis in place of the rest. */
export function cutWords(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const head = text.slice(0, maxCharacters);
  const word = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'));
  // A word that takes half of it is cut itself, but never between the halves of a character.
  const kept =
    word * 2 >= maxCharacters
      ? head.slice(0, word).trimEnd()
      : head.slice(0, -1).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept}…`;
}
