import type { RenderFailure } from '#compile';
import type {
  AccessRight,
  KindAt,
  KubeError,
  KubeErrorCode,
  MissingObject,
  RefAt,
} from '#kube/roles.ts';
import { apiVersionOf, type Gvk } from '#util/gvk.ts';
import { withPlace } from './places.ts';
import { type Disclosure, fieldTexts, isNamePublic, publicContent } from './secrecy.ts';

/** Reasons of the `Ready` condition for errors and blocking conditions (docs/definition/reporting.md#what-homeostat-always-writes). */
export type ProblemReason =
  | 'RenderFailed'
  | 'LimitReached'
  | 'Forbidden'
  | 'Conflict'
  | 'ApplyFailed'
  | 'Contested'
  | 'Terminating'
  | 'DefinitionBroken'
  | 'DeletionsHeld'
  | 'KindMissing'
  | 'ClusterUnreachable'
  | 'Waiting';

/** An error or blocking condition of one child, a read or the status, as it is reported. */
export interface Problem {
  readonly reason: ProblemReason;
  /** For people: stable text without times or random parts, never the value of a Secret. */
  readonly message: string;
  /** Code of the KubeError or RenderFailure; the reason if there is none. */
  readonly code: string;
  /** `waiting`: retried on an event. `permanent`: retried after `retry.permanent`. `temporary`: retried with growing delays. */
  readonly kind: 'waiting' | 'permanent' | 'temporary';
  /** The owner of the existing object, for `Conflict`. */
  readonly owner?: string;
  /** Each thing that is waited for. */
  readonly waitingFor?: readonly string[];
  /** The error that a temporary problem returns to the queue. */
  readonly error?: KubeError;
  /** Delays for a temporary problem that lasts longer, in place of those of `error`. */
  readonly slowRetry?: SlowRetry;
  /** The missing right: the resource is enqueued when it is granted. */
  readonly right?: AccessRight;
  /** The object without which the request fails: the resource is enqueued when it exists. */
  readonly missing?: RefAt;
  /**
   * What nothing shows the end of, as a key: a right that cannot be reviewed, an object that cannot be watched. One resource of all that
   * fail for the same cause repeats its request after growing delays, and enqueues the others when it succeeds.
   */
  readonly cause?: string;
  /** When to retry, in ms from now. @default `retry.permanent` */
  readonly retryAfterMs?: number;
  /** Only some fields differ from the desired state: the object exists, and pruning may go on. */
  readonly isPartial?: boolean;
  /** The state of the object is unknown: what reads it keeps its last value. @default false */
  readonly isUnknown?: boolean;
}

/** Growing delays between retries, in ms. */
interface SlowRetry {
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

/** For an exhausted quota or a terminating namespace: frequent retries gain nothing. */
const defaultSlowRetry: SlowRetry = { baseDelayMs: 5_000, maxDelayMs: 300_000 };

/** The server may quote a long value or list thousands of fields. Conditions and Events need less. */
const maxServerCharacters = 512;

interface FailureRow {
  readonly reason: ProblemReason;
  /** For people. @default undefined: the message of the server (stable for these codes) */
  readonly message?: string;
  /** Whether the server's words follow the message. @default false */
  readonly isQuoted?: boolean;
  readonly slowRetry?: SlowRetry;
}

/** Reason and message by error code. See {@link KubeError.isPermanent}. */
const failures: Readonly<Record<KubeErrorCode, FailureRow>> = {
  'not-found': { reason: 'ApplyFailed', message: 'The object no longer exists' },
  'kind-missing': { reason: 'KindMissing' },
  'already-exists': { reason: 'ApplyFailed', message: 'Another client created the object first' },
  conflict: {
    reason: 'ApplyFailed',
    message: 'Another client changed the object at the same time',
  },
  'field-conflict': { reason: 'ApplyFailed', message: 'Another field manager owns a field' },
  'uid-mismatch': { reason: 'ApplyFailed', message: 'The object was replaced at the same time' },
  forbidden: { reason: 'Forbidden' },
  denied: { reason: 'ApplyFailed' },
  'namespace-terminating': {
    reason: 'Terminating',
    message: 'The namespace is being deleted: no objects can be created in it',
    slowRetry: defaultSlowRetry,
  },
  'quota-exceeded': { reason: 'ApplyFailed', slowRetry: defaultSlowRetry },
  unauthorized: { reason: 'Forbidden', message: 'The API server rejected the credentials' },
  gone: { reason: 'ApplyFailed', message: 'The API server returned "410 Gone"' },
  'too-many-requests': { reason: 'ApplyFailed', message: 'The API server is overloaded' },
  unavailable: { reason: 'ApplyFailed', message: 'The API server is unavailable' },
  rejected: { reason: 'ApplyFailed' },
  'too-large': { reason: 'ApplyFailed', message: 'The object is too large' },
  timeout: { reason: 'ApplyFailed', message: 'The API server did not respond in time' },
  'connection-lost': {
    reason: 'ApplyFailed',
    message: 'The connection to the API server was lost',
  },
  // Its message names the cluster.
  'cluster-unreachable': { reason: 'ClusterUnreachable', slowRetry: defaultSlowRetry },
  aborted: { reason: 'ApplyFailed', message: 'The runtime is stopping' },
  'webhook-failed': { reason: 'ApplyFailed' },
  'server-error': {
    reason: 'ApplyFailed',
    message: 'The API server returned an internal error',
    isQuoted: true,
  },
  unexpected: {
    reason: 'ApplyFailed',
    message: 'The API server returned an unexpected response',
    isQuoted: true,
  },
};

export interface FailureContext {
  /** The object. If it may hold values of a Secret, the server's message is reduced to the reason and the fields in the schema. */
  readonly about: Disclosure;
  /** The requested kind, to name it if it is missing. */
  readonly gvk?: KindAt;
  /** The namespace of the object. @default undefined: it has none, or it is not known */
  readonly namespace?: string | undefined;
  /** What to do about a field that cannot be changed. @default revert the change */
  readonly immutableRemedy?: string;
  /** The only name that the definition requests. */
  readonly literalName?: string | undefined;
  /** Where the definition writes the object, for an object that the server rejects. */
  readonly place?: string | undefined;
}

/** Converts a failed request to a problem. */
export function problemOfRequest(error: KubeError, failed: FailureContext): Problem {
  const { about, gvk, literalName, place } = failed;
  const { code } = error;
  const right = rightOf(error, about);
  const { reason, slowRetry } = failures[code];
  if (code === 'kind-missing') {
    const which = gvk === undefined ? 'this kind' : `kind "${gvk.kind}" of "${apiVersionOf(gvk)}"`;
    const message = `The cluster does not serve ${which}`;
    // One of several API servers may lag behind. The informer that found the kind would then enqueue nothing.
    return { reason, message, code, kind: 'temporary', error };
  }
  if (error.missing !== undefined) return problemOfMissing(error.missing, failed);
  if (right !== undefined) {
    const kind = error.isPermanent ? 'permanent' : 'temporary';
    const problem = { reason, message: rightText(right, literalName), code, kind, right } as const;
    return kind === 'permanent' ? problem : { ...problem, error };
  }
  const message = textOf(error, failed);
  if (error.isPermanent) {
    const problem = {
      reason,
      message: withPlace(message, place),
      code,
      kind: 'permanent',
    } as const;
    return error.denial === undefined
      ? problem
      : { ...problem, cause: causeKey(failed, error.denial) };
  }
  if (slowRetry !== undefined) return { reason, message, code, kind: 'temporary', slowRetry };
  return { reason, message, code, kind: 'temporary', error };
}

/** The same text about objects of one kind and namespace has the same cause. */
function causeKey({ gvk, namespace }: FailureContext, text: string): string {
  return JSON.stringify([gvk?.cluster, gvk?.group, gvk?.kind, namespace, text]);
}

/** An object that the request needs besides its own. */
function problemOfMissing(
  { group, resource, name, gvk, namespace }: MissingObject,
  { about, gvk: ofObject, namespace: ownNamespace, place }: FailureContext,
): Problem {
  const isNamespace = group === '' && resource === 'namespaces' && name === ownNamespace;
  // The namespace is part of the object's name; other names are content.
  const isPublic = isNamespace ? isNamePublic(about) : about.secrecy === 'none';
  const cluster = ofObject?.cluster;
  const kind = gvk?.kind ?? (group === '' ? resource : `${resource}.${group}`);
  const what = isPublic ? `${kind} "${name}"` : `${isNamespace ? 'Its' : 'A'} ${kind}`;
  const where = cluster === undefined ? '' : ` in cluster "${cluster}"`;
  // Namespaces are not created in members: the default is that of the resource.
  const remedy =
    isNamespace && cluster !== undefined ? '; create it, or set "metadata.namespace"' : '';
  const problem = {
    reason: 'ApplyFailed',
    message: withPlace(`${what} does not exist${where}${remedy}`, place),
    code: 'not-found',
    kind: 'temporary',
  } as const;
  if (gvk === undefined)
    return { ...problem, cause: JSON.stringify([cluster, group, resource, name]) };
  return {
    ...problem,
    missing: {
      gvk: { ...gvk, cluster },
      name,
      ...(namespace !== undefined && { namespace }),
      ...(!isPublic && { isPrivate: true }),
    },
  };
}

function rightOf({ right }: KubeError, about: Disclosure): AccessRight | undefined {
  return right === undefined || isNamePublic(about) ? right : { ...right, isPrivate: true };
}

/**
 * A missing right and the rule that grants it, for the status of resources and of definitions.
 * @param literalName The only name that the definition requests, as a literal. The name in `right` may be computed.
 */
export function rightText(right: AccessRight, literalName?: string): string {
  const { verb, group, resource, subresource } = right;
  const path = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = `${placeText(right)}${right.cluster === undefined ? '' : ` of cluster "${right.cluster}"`}`;
  const named = group === '' ? path : `${path}.${group}`;
  const verbs = requiredVerbs(verb, subresource).map((each) => `"${each}"`);
  const names = literalName === undefined ? '' : ` resourceNames: ["${literalName}"],`;
  const rule = `{ apiGroups: ["${group}"], resources: ["${path}"],${names} verbs: [${verbs.join(', ')}] }`;
  return `The runtime is not allowed to ${verb} ${named} ${where}; grant the rule ${rule}`;
}

function placeText({ namespace, isPrivate }: AccessRight): string {
  if (namespace === undefined) return 'at the cluster scope';
  return isPrivate === true ? 'in its namespace' : `in namespace "${namespace}"`;
}

/** Verbs that are required together: an apply needs create and patch, an informer list and watch. */
function requiredVerbs(verb: string, subresource: string | undefined): readonly string[] {
  if (subresource !== undefined) return [verb];
  const together = [
    ['create', 'patch'],
    ['list', 'watch'],
  ].find((verbs) => verbs.includes(verb));
  return together ?? [verb];
}

function textOf(error: KubeError, failed: FailureContext): string {
  const { message, isQuoted = false } = failures[error.code];
  if (message !== undefined && !isQuoted) return message;
  const words = truncate(rejectionText(error, failed), maxServerCharacters);
  if (message === undefined) return words;
  return words === error.code ? message : `${message}: ${words}`;
}

function rejectionText(
  error: KubeError,
  { about, immutableRemedy = revertChange }: FailureContext,
): string {
  const { immutableFields } = error;
  if (immutableFields.length === 0)
    return about.secrecy === 'none' ? serverMessage(error) : reasonAndFields(error, about);
  const fields = fieldTexts(immutableFields, about).join(', ') || 'A field';
  const what =
    about.secrecy === 'none'
      ? serverMessage(error)
      : `${fields} cannot be changed on an existing object`;
  // The remedy is not cut off: the server may list many fields.
  const atMost = maxServerCharacters - immutableRemedy.length - 2;
  return `${truncate(what, atMost)}; ${immutableRemedy}`;
}

/** The remedy that is safe for every kind: a deletion may lose what the object holds. */
const revertChange = 'revert the change';

const limitCodes: ReadonlySet<RenderFailure['code']> = new Set([
  'limit-reached',
  'budget-exceeded',
]);

/** Converts a rendering error to a problem. It is permanent: a retry with the same input fails again. */
export function problemOfRender({ code, field, message, place }: RenderFailure): Problem {
  // The limits of a reconcile do not belong to a field.
  const isWhole = code === 'budget-exceeded';
  const named = isWhole || message.includes(field) ? message : `${field}: ${message}`;
  return {
    reason: limitCodes.has(code) ? 'LimitReached' : 'RenderFailed',
    message: withPlace(named, isWhole ? undefined : place),
    code,
    kind: 'permanent',
  };
}

/** A problem of kind `waiting`. @param message For people. @default a list of what is waited for */
export function problemOfWaiting(on: readonly string[], message?: string): Problem {
  const distinct = [...new Set(on)].sort();
  return {
    reason: 'Waiting',
    message: message ?? `Waiting for ${distinct.join(', ')}`,
    code: 'waiting',
    kind: 'waiting',
    waitingFor: distinct,
  };
}

/** A rendered value that cannot be used: it stays so until an input changes. */
export function problemOfValue(message: string, code = 'invalid-manifest'): Problem {
  return { reason: 'RenderFailed', message, code, kind: 'permanent' };
}

/** A watch that fails. It retries on its own and enqueues the resource. */
export function problemOfWatch(error: KubeError, gvk: Gvk, literalName?: string): Problem {
  const context = { about: publicContent, gvk: { cluster: undefined, ...gvk }, literalName };
  const { reason, message, code } = problemOfRequest(error, context);
  return { reason, message, code, kind: 'waiting' };
}

/** The member cluster of an object cannot be used now. Its connection enqueues the resource. */
export function problemOfCluster(cluster: string, why: string): Problem {
  return {
    reason: 'ClusterUnreachable',
    message: `Cluster "${cluster}" cannot be used: ${why}`,
    code: 'cluster-unreachable',
    kind: 'waiting',
    waitingFor: [`cluster "${cluster}" (${why})`],
    isUnknown: true,
  };
}

function serverMessage(error: KubeError): string {
  if (error.causes.length === 0) return error.message;
  return error.causes
    .map(({ field, message, detail = message }) =>
      field === undefined ? detail : `${field}: ${detail}`,
    )
    .join('; ');
}

function reasonAndFields(error: KubeError, about: Disclosure): string {
  const fields = fieldTexts(
    error.causes.flatMap(({ field }) => field ?? []),
    about,
  );
  // A webhook may write any text into the reason.
  const reason = serverReasons.has(error.reason ?? '') ? error.reason : error.code;
  return fields.length === 0 ? `${reason}` : `${reason}: ${fields.join(', ')}`;
}

/** The reasons that the API server itself returns. */
const serverReasons: ReadonlySet<string> = new Set([
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

/** Limits a text to `maxCharacters`. It ends at a word boundary if possible, with an ellipsis in place of the rest. */
export function truncate(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const head = text.slice(0, maxCharacters);
  const word = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'));
  // A word that takes more than half is cut, but never between the halves of a surrogate pair.
  const kept =
    word * 2 >= maxCharacters
      ? head.slice(0, word).trimEnd()
      : head.slice(0, -1).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept}…`;
}
