import type { ApplyError } from '../apply/apply-error.ts';
import type { FieldError } from './field-error.ts';
import { StatusError } from './status-error.ts';

/** The object of an error: `deployments.apps "web"`. */
interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

interface KindName {
  readonly group: string;
  readonly kind: string;
}

function qualified({ group, plural }: ResourceName): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function detailsOf({ group, plural }: ResourceName, name: string) {
  return { name, ...(group === '' ? {} : { group }), kind: plural };
}

export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: 'BadRequest', message });
}

export function notFound(resource: ResourceName, name: string): StatusError {
  const message = `${qualified(resource)} ${JSON.stringify(name)} not found`;
  const details = detailsOf(resource, name);
  return new StatusError({ code: 404, reason: 'NotFound', message, details });
}

/** No resource is served at the path. */
export function unknownPath(): StatusError {
  const message = 'the server could not find the requested resource';
  return new StatusError({ code: 404, reason: 'NotFound', message, details: {} });
}

export function alreadyExists(
  resource: ResourceName,
  name: string,
  isTerminating = false,
): StatusError {
  const text = `${qualified(resource)} ${JSON.stringify(name)} already exists`;
  const message = isTerminating ? `object is being deleted: ${text}` : text;
  const details = detailsOf(resource, name);
  return new StatusError({ code: 409, reason: 'AlreadyExists', message, details });
}

export function conflict(resource: ResourceName, name: string, because: string): StatusError {
  const what = `${qualified(resource)} ${JSON.stringify(name)}`;
  const message = `Operation cannot be fulfilled on ${what}: ${because}`;
  const details = detailsOf(resource, name);
  return new StatusError({ code: 409, reason: 'Conflict', message, details });
}

export const objectModified =
  'the object has been modified; please apply your changes to the latest version and try again';

export function forbidden(resource: ResourceName, name: string, because: string): StatusError {
  const what = `${qualified(resource)} ${JSON.stringify(name)}`;
  const message = `${what} is forbidden: ${because}`;
  const details = detailsOf(resource, name);
  return new StatusError({ code: 403, reason: 'Forbidden', message, details });
}

/** The object violates rules of its kind. */
export function invalid(kind: KindName, name: string, errors: readonly FieldError[]): StatusError {
  const qualifiedKind = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const unique = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))];
  const [first = ''] = unique;
  const list = unique.length === 1 ? first : `[${unique.join(', ')}]`;
  const causes = errors.map(({ reason, message, field }) => ({ reason, message, field }));
  return new StatusError({
    code: 422,
    reason: 'Invalid',
    message: `${qualifiedKind} ${JSON.stringify(name)} is invalid: ${list}`,
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      ...(kind.kind === '' ? {} : { kind: kind.kind }),
      causes,
    },
  });
}

export function internalError(message: string): StatusError {
  return new StatusError({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

/** An error that the server does not convert to a detailed Status. */
export function plainError(message: string): StatusError {
  return new StatusError({ code: 500, reason: '', message });
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return new StatusError({ code: 405, reason: 'MethodNotAllowed', message, details: {} });
}

/** A method that custom resources do not support. */
export function methodNotSupported(resource: ResourceName, verb: string): StatusError {
  const message = `${verb} is not supported on resources of kind ${JSON.stringify(qualified(resource))}`;
  const { group, plural: kind } = resource;
  const details = { ...(group === '' ? {} : { group }), kind };
  return new StatusError({ code: 405, reason: 'MethodNotAllowed', message, details });
}

export function notAcceptable(accepted: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${accepted.join(', ')}`;
  return new StatusError({ code: 406, reason: 'NotAcceptable', message });
}

/** A media type that no route of built-in kinds produces. */
export function notRepresentable(available: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`;
  return new StatusError({ code: 406, reason: 'NotAcceptable', message, details: {} });
}

/** A content type that no route of built-in kinds accepts. */
export function unroutableMediaType(): StatusError {
  const message = '415: Unsupported Media Type';
  return new StatusError({ code: 415, reason: 'UnsupportedMediaType', message, details: {} });
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const list = accepted.join(', ');
  const message = `the body of the request was in an unknown format - accepted media types include: ${list}`;
  return new StatusError({ code: 415, reason: 'UnsupportedMediaType', message });
}

/** A feature that the sandbox does not support. */
export function notModelled(what: string): StatusError {
  const message = `The sandbox does not support ${what}`;
  return new StatusError({ code: 501, reason: 'NotImplemented', message });
}

export function entityTooLarge(message: string): StatusError {
  return new StatusError({ code: 413, reason: 'RequestEntityTooLarge', message });
}

export function expired(message: string): StatusError {
  return new StatusError({ code: 410, reason: 'Expired', message });
}

/** The version of the list has expired; the token continues with the current state. */
export function expiredPage(continueToken: string): StatusError {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  return new StatusError({ code: 410, reason: 'Expired', message, continueToken });
}

/** A resourceVersion that is newer than the current one. */
export function tooLargeResourceVersion(asked: number, current: number): StatusError {
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

/** The Status of an apply that the merge rejects. */
export function applyStatusError(error: ApplyError): StatusError {
  const { code, message, causes } = error;
  switch (code) {
    case 'bad-request':
      return badRequest(message);
    case 'conflict':
      return new StatusError({ code: 409, reason: 'Conflict', message, details: { causes } });
    default:
      return plainError(message);
  }
}
