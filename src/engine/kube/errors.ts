/** The only parser of Status bodies and transport errors. Other code reads `KubeError.code`. */
import { foreignText } from '#util/foreign-text.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { ServerNotAllowedError } from './client/server-not-allowed.ts';
import {
  denialIn,
  failedConversionIn,
  failedWebhookIn,
  immutableDetail,
  isAboutImmutableField,
  isNotReady,
  isOwnerKindUnknown,
  isPluginRejection,
  isPolicyRejection,
  isQuotaRejection,
  isUidMismatch,
  isVersionRejection,
  managerIn,
  missingRightIn,
  stableMessage,
  stableQuotaMessage,
  typedPatchDetails,
  unknownFieldVersionIn,
} from './error-messages.ts';
import { KubeError, type KubeErrorCode, type StatusCause } from './kube-error.ts';

const messageBytes = 1024;
/** Of a text in a Status: webhooks, policies and members write it. Some quote a whole object and say at their end what is wrong. */
const maxStatusText = 65_536;
/** Of a name or a kind in a Status, and of the path of a field. */
const maxStatusName = 253;
const maxStatusPath = 1_024;
const maxCauses = 100;

/** The relevant part of a failed response. */
interface FailedResponse {
  readonly status: number;
  /** The parsed JSON, or text if it is not JSON. */
  readonly body: unknown;
  /** The `Retry-After` header. */
  readonly retryAfter?: string;
}

/** Context of a failed request. */
export interface FailureContext {
  /** Whether the request writes. */
  readonly isWrite: boolean;
  /** Whether any byte was sent before the failure. */
  readonly wasSent: boolean;
}

/** The error of a response outside 2xx. */
export function errorFromResponse({ status, body, retryAfter }: FailedResponse): KubeError {
  const failure = readStatus(body);
  const code = codeOf(status, failure);
  const seconds = secondsOf(retryAfter) ?? failure.retryAfterSeconds ?? retryDelayOf(code, failure);
  const { message: words = '', objectName, objectGroup = '', objectResource } = failure;
  const right = code === 'forbidden' ? missingRightIn(words, objectName) : undefined;
  const isDenied = code === 'denied' || (code === 'forbidden' && right === undefined);
  const denial = isDenied ? denialIn(words) : undefined;
  const isConversion = code === 'webhook-failed' && failedConversionIn(words) !== undefined;
  const fieldVersion = code === 'server-error' ? unknownFieldVersionIn(words) : undefined;
  return new KubeError(code, messageOf(status, code, failure), {
    status,
    causes: failure.causes,
    ...(isConversion && { isConversion }),
    ...(fieldVersion === undefined ? {} : { unknownFieldVersion: fieldVersion }),
    ...(failure.reason === undefined ? {} : { reason: failure.reason }),
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    ...(right === undefined ? {} : { right }),
    ...(denial === undefined ? {} : { denial }),
    ...(code === 'not-found' &&
      objectName !== undefined &&
      objectResource !== undefined && {
        notFound: { group: objectGroup, resource: objectResource, name: objectName },
      }),
  });
}

/** Seconds to wait for rejections that are temporary, although the server does not say so. */
function retryDelayOf(code: KubeErrorCode, { message = '' }: Failure): number | undefined {
  const isTemporary = (code === 'denied' && isOwnerKindUnknown(message)) || isNotReady(message);
  return isTemporary ? 1 : undefined;
}

/** Messages that are copied to conditions must be stable across retries. */
function messageOf(status: number, code: KubeErrorCode, { message }: Failure): string {
  if (message === undefined) return `The API server responded with status ${status}`;
  if (code === 'webhook-failed') {
    const conversion = failedConversionIn(message);
    if (conversion !== undefined) return truncateUtf8(conversion, messageBytes);
    return `The API server could not call the admission webhook "${failedWebhookIn(message)}"`;
  }
  const words = code === 'quota-exceeded' ? stableQuotaMessage(message) : message;
  return truncateUtf8(quotedCodes.has(code) ? stableMessage(words) : words, messageBytes);
}

/** Their messages are copied. */
const quotedCodes: ReadonlySet<KubeErrorCode> = new Set([
  'rejected',
  'denied',
  'forbidden',
  'quota-exceeded',
  'server-error',
  'unexpected',
]);

/** The error of a Status object in an ERROR event of a watch. */
export function errorFromStatus(status: unknown): KubeError {
  const code = isJsonObject(status) && typeof status.code === 'number' ? status.code : 500;
  return errorFromResponse({ status: code, body: status });
}

/** The error of a request without a response. A KubeError is returned unchanged. */
export function errorFromTransport(error: unknown, context: FailureContext): KubeError {
  if (error instanceof KubeError) return error;
  if (error instanceof ServerNotAllowedError)
    return new KubeError('unavailable', error.message, {
      status: 0,
      cause: error,
      isServerNotAllowed: true,
    });
  const found = transportCode(error);
  const code = codeOfTransport(found, context);
  const isUntrusted = untrustedCode.test(found);
  const message = isUntrusted
    ? `The certificate of the API server cannot be verified (${found})`
    : transportMessage(code, found);
  return new KubeError(code, message, {
    status: 0,
    cause: error,
    ...(isUntrusted && { isUntrusted }),
  });
}

/** Codes of OpenSSL and Node for certificates that do not verify. */
const untrustedCode =
  /^(?:CERT_|ERR_TLS_CERT|ERR_SSL_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF))/;

/** The error of our own signal. */
export function abortedError(cause: unknown): KubeError {
  return new KubeError('aborted', 'The request was aborted', { status: 0, cause });
}

/** The error of our own deadline. */
export function timeoutError(timeoutMs: number): KubeError {
  return new KubeError('timeout', `The API server did not respond within ${timeoutMs} ms`, {
    status: 0,
  });
}

/** Maps errors of a create-only request that only an existing object can cause to `already-exists`. */
export function asCreateError(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  // A new object has no fields of an unknown version.
  if (error.code !== 'conflict' && error.unknownFieldVersion === undefined) return error;
  return new KubeError('already-exists', error.message, {
    status: error.status,
    causes: error.causes,
    cause: error,
    ...(error.reason === undefined ? {} : { reason: error.reason }),
  });
}

/** Whether the server rejects the resourceVersion of a create-only apply. */
export function isResourceVersionError({ code, causes, message }: KubeError): boolean {
  if (code !== 'rejected' && code !== 'server-error') return false;
  // The object itself may have a field with this name.
  if (typedPatchDetails(message) !== undefined) return false;
  return (
    causes.some(({ field }) => field === 'metadata.resourceVersion') || isVersionRejection(message)
  );
}

interface Failure {
  readonly message?: string;
  readonly reason?: string;
  readonly objectName?: string;
  readonly objectGroup?: string;
  /** Plural. */
  readonly objectResource?: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

function readStatus(body: unknown): Failure {
  if (!isJsonObject(body)) {
    const text = typeof body === 'string' ? textOf(body.trim()) : undefined;
    return text === undefined ? { causes: [] } : { causes: [], message: text };
  }
  const details = isJsonObject(body.details) ? body.details : {};
  const causes = Array.isArray(details.causes) ? details.causes.filter(isJsonObject) : [];
  const message = textOf(body.message);
  const reason = nameOf(body.reason);
  const objectName = nameOf(details.name);
  const objectGroup = nameOf(details.group);
  const objectResource = nameOf(details.kind);
  const seconds = details.retryAfterSeconds;
  return {
    causes:
      causes.length > 0 ? causes.slice(0, maxCauses).map(readCause) : typedPatchCauses(message),
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(objectName === undefined ? {} : { objectName }),
    ...(objectGroup === undefined ? {} : { objectGroup }),
    ...(objectResource === undefined ? {} : { objectResource }),
    ...(typeof seconds === 'number' && seconds > 0 ? { retryAfterSeconds: seconds } : {}),
  };
}

function readCause(cause: JsonObject): StatusCause {
  const field = textOf(cause.field, maxStatusPath);
  const message = stableMessage(textOf(cause.message) ?? '');
  const manager = managerIn(message);
  const isImmutable = isAboutImmutableField(message);
  return {
    reason: nameOf(cause.reason) ?? '',
    message,
    ...(field === undefined ? {} : { field }),
    ...(manager === undefined ? {} : { manager }),
    ...(isImmutable ? { isImmutable, detail: immutableDetail(message) } : {}),
  };
}

/** Server-side apply reports causes only in its message: one `.path: reason`, or `errors:` and one per line. */
function typedPatchCauses(message: string | undefined): readonly StatusCause[] {
  const details = typedPatchDetails(message ?? '');
  if (details === undefined) return [];
  return details.split('\n', maxCauses).flatMap((line) => {
    const [, field, why] = /^\s*(\.\S+): (.*)$/.exec(line) ?? [];
    if (field === undefined || why === undefined) return [];
    return [{ reason: 'FieldValueInvalid', message: stableMessage(why), field }];
  });
}

function codeOf(status: number, failure: Failure): KubeErrorCode {
  const isOverload = status === 429 || status >= 500;
  if (!isOverload && isPolicyRejection(failure.message ?? '')) return 'denied';
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
  if (typedPatchDetails(message) !== undefined) return 'rejected';
  const isWebhook =
    failedWebhookIn(message) !== undefined || failedConversionIn(message) !== undefined;
  return isWebhook ? 'webhook-failed' : 'server-error';
}

function forbiddenCode({ causes, message = '' }: Failure): KubeErrorCode {
  if (causes.some(({ reason }) => reason === 'NamespaceTerminating'))
    return 'namespace-terminating';
  if (isNotReady(message)) return 'unavailable';
  if (isQuotaRejection(message)) return 'quota-exceeded';
  return isPluginRejection(message) ? 'denied' : 'forbidden';
}

function conflictCode({ causes, reason, message = '' }: Failure): KubeErrorCode {
  if (reason === 'AlreadyExists') return 'already-exists';
  if (causes.some((cause) => cause.reason === 'FieldManagerConflict')) return 'field-conflict';
  return isUidMismatch(message) ? 'uid-mismatch' : 'conflict';
}

const timeoutCodes = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** Unusable responses: too large, or not HTTP. */
const invalidResponseCodes = new Set(['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_HEADERS_OVERFLOW']);

function codeOfTransport(found: string, { isWrite, wasSent }: FailureContext): KubeErrorCode {
  if (found === 'UND_ERR_ABORTED' || found === 'ABORT_ERR') return 'aborted';
  if (timeoutCodes.has(found)) return 'timeout';
  if (invalidResponseCodes.has(found) || found.startsWith('HPE_')) return 'unexpected';
  return isWrite && wasSent ? 'connection-lost' : 'unavailable';
}

function transportMessage(code: KubeErrorCode, found: string): string {
  switch (code) {
    case 'aborted':
      return 'The request was aborted';
    case 'connection-lost':
      return `The connection closed after the request was sent (${found})`;
    case 'unavailable':
      return `The API server is unreachable (${found})`;
    default:
      return `The request failed (${found})`;
  }
}

/** The code of an error, of its cause, or of the first of several attempts. */
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

/** The only place where texts of a Status are read. */
function textOf(value: unknown, maxLength = maxStatusText): string | undefined {
  return typeof value === 'string' && value !== '' ? foreignText(value, maxLength) : undefined;
}

function nameOf(value: unknown): string | undefined {
  return textOf(value, maxStatusName);
}

/** Truncates a text to `maxBytes` bytes of UTF-8 without splitting a character. */
export function truncateUtf8(value: string, maxBytes: number): string {
  const text = value.toWellFormed();
  // A UTF-16 unit takes at most three bytes: short texts need no encoding.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
