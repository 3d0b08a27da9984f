/** The only place that looks inside Status bodies and transport errors. Everyone else reads `KubeError.code`. */
import { isJsonObject, type JsonObject } from '../util/json.ts';
import { cutText } from './cut-text.ts';
import {
  failedWebhookIn,
  isAboutImmutable,
  isOfUnheardOwner,
  isPluginRefusal,
  isPolicyRefusal,
  isQuotaRefusal,
  isUidMismatch,
  isVersionRefusal,
  managerIn,
  missingRightIn,
  stableQuotaWords,
  stableWords,
  typedPatchText,
} from './error-words.ts';
import { KubeError, type KubeErrorCode, type StatusCause } from './kube-error.ts';

const messageBytes = 1024;

/** The part of an answer that its failure is read from. */
export interface FailedAnswer {
  readonly status: number;
  /** The parsed JSON, or the text where it is none. */
  readonly body: unknown;
  /** The `Retry-After` header. */
  readonly retryAfter?: string;
}

/** What a failed request was about. */
export interface FailureContext {
  /** Is it a request that changes something? */
  readonly isWrite: boolean;
  /** Had any byte been sent when the connection broke? */
  readonly wasSent: boolean;
}

/** The error of an answer outside 2xx. */
export function errorOfAnswer({ status, body, retryAfter }: FailedAnswer): KubeError {
  const failure = readStatus(body);
  const code = codeOf(status, failure);
  const seconds = secondsOf(retryAfter) ?? failure.retryAfterSeconds ?? pauseOf(code, failure);
  const right =
    code === 'forbidden' ? missingRightIn(failure.message ?? '', failure.objectName) : undefined;
  return new KubeError(code, messageOf(status, code, failure), {
    status,
    causes: failure.causes,
    ...(failure.reason === undefined ? {} : { reason: failure.reason }),
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    ...(right === undefined ? {} : { right }),
  });
}

/** Refusals that pass by themselves, though the server does not say so. */
function pauseOf(code: KubeErrorCode, { message = '' }: Failure): number | undefined {
  return code === 'denied' && isOfUnheardOwner(message) ? 1 : undefined;
}

/** Refusals stand in conditions: the same one has the same words each time. */
function messageOf(status: number, code: KubeErrorCode, { message }: Failure): string {
  if (message === undefined) return `The server answered ${status}`;
  if (code === 'webhook-failed') {
    return `The API server could not call the admission webhook "${failedWebhookIn(message)}"`;
  }
  const words = code === 'quota-exceeded' ? stableQuotaWords(message) : message;
  return cutText(refusals.has(code) ? stableWords(words) : words, messageBytes);
}

const refusals: ReadonlySet<KubeErrorCode> = new Set([
  'rejected',
  'denied',
  'forbidden',
  'quota-exceeded',
]);

/** The error of a Status object that came in place of an object: the ERROR event of a watch. */
export function errorOfStatus(status: unknown): KubeError {
  const code = isJsonObject(status) && typeof status.code === 'number' ? status.code : 500;
  return errorOfAnswer({ status: code, body: status });
}

/** The error of a request that got no answer. A KubeError is handed through. */
export function errorOfTransport(error: unknown, context: FailureContext): KubeError {
  if (error instanceof KubeError) return error;
  const found = transportCode(error);
  const code = codeOfTransport(found, context);
  return new KubeError(code, transportMessage(code, found), { status: 0, cause: error });
}

/** The error of our own signal. */
export function abortedError(cause: unknown): KubeError {
  return new KubeError('aborted', 'The request was aborted', { status: 0, cause });
}

/** The error of our own deadline. */
export function timeoutError(timeoutMs: number): KubeError {
  return new KubeError('timeout', `Expected an answer within ${timeoutMs} ms, found none`, {
    status: 0,
  });
}

/** A conflict of a request that may only create says that the object exists already. */
export function asCreateError(error: unknown): unknown {
  if (!(error instanceof KubeError) || error.code !== 'conflict') return error;
  return new KubeError('already-exists', error.message, {
    status: error.status,
    causes: error.causes,
    cause: error,
    ...(error.reason === undefined ? {} : { reason: error.reason }),
  });
}

/** Does a server refuse the version by which an apply may only create? */
export function isAboutVersion({ code, causes, message }: KubeError): boolean {
  if (code !== 'rejected' && code !== 'server-error') return false;
  // A field of the object's own may be called so, too.
  if (typedPatchText(message) !== undefined) return false;
  return (
    causes.some(({ field }) => field === 'metadata.resourceVersion') || isVersionRefusal(message)
  );
}

interface Failure {
  readonly message?: string;
  readonly reason?: string;
  readonly objectName?: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

function readStatus(body: unknown): Failure {
  if (!isJsonObject(body)) {
    const text = typeof body === 'string' ? body.trim() : '';
    return text === '' ? { causes: [] } : { causes: [], message: text };
  }
  const details = isJsonObject(body.details) ? body.details : {};
  const causes = Array.isArray(details.causes) ? details.causes.filter(isJsonObject) : [];
  const message = textOf(body.message);
  const reason = textOf(body.reason);
  const objectName = textOf(details.name);
  const seconds = details.retryAfterSeconds;
  return {
    causes: causes.length > 0 ? causes.map(readCause) : typedPatchCauses(message),
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(objectName === undefined ? {} : { objectName }),
    ...(typeof seconds === 'number' && seconds > 0 ? { retryAfterSeconds: seconds } : {}),
  };
}

function readCause(cause: JsonObject): StatusCause {
  const field = textOf(cause.field);
  const message = stableWords(textOf(cause.message) ?? '');
  const manager = managerIn(message);
  return {
    reason: textOf(cause.reason) ?? '',
    message,
    ...(field === undefined ? {} : { field }),
    ...(manager === undefined ? {} : { manager }),
    ...(isAboutImmutable(message) ? { isImmutable: true } : {}),
  };
}

/** Server-side apply tells what is wrong only in its message: one `.path: why`, or `errors:` and one in each line. */
function typedPatchCauses(message: string | undefined): readonly StatusCause[] {
  const told = typedPatchText(message ?? '');
  if (told === undefined) return [];
  return told.split('\n').flatMap((line) => {
    const [, field, why] = /^\s*(\.\S+): (.*)$/.exec(line) ?? [];
    if (field === undefined || why === undefined) return [];
    return [{ reason: 'FieldValueInvalid', message: stableWords(why), field }];
  });
}

function codeOf(status: number, failure: Failure): KubeErrorCode {
  const isOverload = status === 429 || status >= 500;
  if (!isOverload && isPolicyRefusal(failure.message ?? '')) return 'denied';
  switch (status) {
    case 400:
      return 'rejected';
    case 401:
      return 'unauthorized';
    case 403:
      return forbiddenCode(failure);
    case 404:
      // A path that is not served is answered as text, or by a Status without the name of an object.
      return failure.objectName === undefined ? 'kind-missing' : 'not-found';
    case 409:
      return conflictCode(failure);
    case 410:
      return 'gone';
    case 413:
      return 'too-large';
    case 422:
      return failure.causes.some(({ field }) => field === 'metadata.uid')
        ? 'uid-mismatch'
        : 'rejected';
    case 429:
      return 'too-many-requests';
    case 500:
      return serverErrorCode(failure);
    case 502:
    case 503:
    case 504:
      return 'unavailable';
    default:
      return status > 500 ? 'server-error' : 'unexpected';
  }
}

function serverErrorCode({ message = '' }: Failure): KubeErrorCode {
  if (typedPatchText(message) !== undefined) return 'rejected';
  return failedWebhookIn(message) === undefined ? 'server-error' : 'webhook-failed';
}

function forbiddenCode({ causes, message = '' }: Failure): KubeErrorCode {
  if (causes.some(({ reason }) => reason === 'NamespaceTerminating'))
    return 'namespace-terminating';
  if (isQuotaRefusal(message)) return 'quota-exceeded';
  return isPluginRefusal(message) ? 'denied' : 'forbidden';
}

function conflictCode({ causes, reason, message = '' }: Failure): KubeErrorCode {
  if (reason === 'AlreadyExists') return 'already-exists';
  if (causes.some((cause) => cause.reason === 'FieldManagerConflict')) return 'field-conflict';
  return isUidMismatch(message) ? 'uid-mismatch' : 'conflict';
}

const timeoutCodes = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** Answers that we could not take: too large, or not HTTP. */
const answerCodes = new Set(['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_HEADERS_OVERFLOW']);

function codeOfTransport(found: string, { isWrite, wasSent }: FailureContext): KubeErrorCode {
  if (found === 'UND_ERR_ABORTED' || found === 'ABORT_ERR') return 'aborted';
  if (timeoutCodes.has(found)) return 'timeout';
  if (answerCodes.has(found) || found.startsWith('HPE_')) return 'unexpected';
  return isWrite && wasSent ? 'connection-lost' : 'unavailable';
}

function transportMessage(code: KubeErrorCode, found: string): string {
  switch (code) {
    case 'aborted':
      return 'The request was aborted';
    case 'connection-lost':
      return `The connection broke after the request had been sent (${found})`;
    case 'unavailable':
      return `The API server cannot be reached (${found})`;
    default:
      return `The request failed (${found})`;
  }
}

/** The code of an error, of its cause, or of the first of several (one for each address that was tried). */
function transportCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError && error.errors.length > 0)
    return transportCode(error.errors[0]);
  return error.cause === undefined ? error.name : transportCode(error.cause);
}

function secondsOf(retryAfter: string | undefined): number | undefined {
  return retryAfter !== undefined && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
