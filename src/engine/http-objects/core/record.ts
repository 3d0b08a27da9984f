import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { type HttpMethod, httpMethods } from '../kinds/http-endpoint.ts';
import { headerProblems, overrideProblems } from '../spec/header-names.ts';
import { isSafePath, isSafeValue } from '../spec/path-template.ts';

/** Annotation with the {@link ObjectRecord}: backups keep it, unlike the status. */
export const recordAnnotation = 'homeostat.dev/http-record';

/** The finalizer of an `HttpObject` that may have an object in the API. */
export const objectFinalizer = 'homeostat.dev/http-object';

/** A request without a body. */
export interface FarRequest {
  readonly method: HttpMethod;
  /** Encoded, below the base path. In records, `{id}` stands for the id: it may not be known yet. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is durable about one object. It is stored before any request that writes, and has no values of Secrets. */
export interface ObjectRecord {
  /** Undefined: no request was sent so far. */
  readonly identity?: Identity;
  /** Whether this object created or adopted the object in the API. */
  readonly isOwned?: true;
  /** No observation has returned it so far: its absence may mean that `observe` is wrong, so it is not created again. */
  readonly isUnobserved?: true;
  /** A create whose result is not known. */
  readonly pending?: PendingCreate;
  /** Number of creates that were sent. */
  readonly creates?: number;
  /** What was last sent; only if the API does not return it. */
  readonly sent?: SentContent;
  /** Key of the create that made the object: the Secret for values of its answer has the same one. */
  readonly createdBy?: string;
  /** When it was known that this create made the object, in ms since the epoch. */
  readonly createdAtMs?: number;
}

/** Which object in the API it is. Recovery and deletion use these requests, not those of the spec. */
export interface Identity {
  /** Origin and base path. */
  readonly location: string;
  readonly endpointUid: string;
  /** Hash of `params`. */
  readonly params: string;
  readonly id?: string;
  readonly observe: FarRequest;
  readonly find?: FarRequest;
  /** Undefined: it is never deleted. */
  readonly delete?: FarRequest;
}

export interface PendingCreate {
  /** Names this create in annotations of users. */
  readonly key: string;
  /** What `find` compares: values by field path, as they were sent. */
  readonly match?: JsonObject;
  /** When it was stored, in ms since the epoch. */
  readonly sinceMs: number;
  /** Number of answers, after the request cannot arrive any more, that the object does not exist. */
  readonly nones?: number;
  /** When the last one was received. */
  readonly noneAtMs?: number;
}

/** Hashes; see `sentContentOf`. */
export interface SentContent {
  readonly desired: string;
  /** Versions of the inputs in `secretFields`. */
  readonly inputs: string;
}

/**
 * Reads the annotation; a missing one is empty. Undefined: it is damaged or of a later version, so nothing may be sent: a create may be
 * pending. Pure.
 */
export function parseRecord(text: string | undefined): ObjectRecord | undefined {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const record = recordOf(value);
  // What was not read would be lost with the next write.
  return printRecord(record) === canonicalJson(value) ? record : undefined;
}

function recordOf(value: JsonObject): ObjectRecord {
  const identity = identityOf(value.identity);
  const pending = pendingOf(value.pending);
  const sent = sentOf(value.sent);
  return {
    ...(identity && { identity }),
    ...(identity && value.isOwned === true && { isOwned: true }),
    ...(identity && value.isUnobserved === true && { isUnobserved: true }),
    ...(identity && pending && { pending }),
    ...(isCount(value.creates) && { creates: value.creates }),
    ...(sent && { sent }),
    ...(typeof value.createdBy === 'string' && { createdBy: value.createdBy }),
    ...(typeof value.createdAtMs === 'number' && { createdAtMs: value.createdAtMs }),
  };
}

/** Whether the request is sent with the id. Pure. */
export function usesId({ path }: FarRequest): boolean {
  return path.includes('{id}');
}

/** The request with the id. Undefined: the id is not known, or cannot be a part of a path. Pure. */
export function withId(request: FarRequest, id: string | undefined): FarRequest | undefined {
  if (!usesId(request)) return request;
  if (id === undefined || !isSafeValue(id)) return undefined;
  const path = request.path.replaceAll('{id}', () => encodeURIComponent(id));
  return isSafePath(path) ? { ...request, path } : undefined;
}

/** The annotation. Equal records give equal texts. Pure. */
export function printRecord(record: ObjectRecord): string {
  return canonicalJson(record);
}

function identityOf(value: Json | undefined): Identity | undefined {
  if (!isJsonObject(value)) return undefined;
  const { location, endpointUid, params, id } = value;
  if (typeof location !== 'string' || typeof endpointUid !== 'string') return undefined;
  const [observe, find, remove] = [value.observe, value.find, value.delete].map(requestOf);
  if (observe === undefined) return undefined;
  return {
    ...{ location, endpointUid },
    params: typeof params === 'string' ? params : '',
    ...(typeof id === 'string' && { id }),
    observe,
    ...(find && { find }),
    ...(remove && { delete: remove }),
  };
}

function requestOf(value: Json | undefined): FarRequest | undefined {
  if (!isJsonObject(value)) return undefined;
  const { method, path, query, headers } = value;
  const isKnown = httpMethods.some((each) => each === method);
  if (!isKnown || typeof path !== 'string' || !isSafePath(path.replaceAll('{id}', 'x')))
    return undefined;
  // A record is the text of users, too.
  if (headerProblems(headers, '').length + overrideProblems(query, '').length > 0) return undefined;
  return {
    ...{ method: method as HttpMethod, path },
    ...(isTextMap(query) && { query }),
    ...(isTextMap(headers) && { headers }),
  };
}

function pendingOf(value: Json | undefined): PendingCreate | undefined {
  if (!isJsonObject(value)) return undefined;
  const { key, sinceMs, nones, noneAtMs, match } = value;
  if (typeof key !== 'string' || typeof sinceMs !== 'number') return undefined;
  return {
    ...{ key, sinceMs },
    ...(isJsonObject(match) && { match }),
    ...(isCount(nones) && { nones }),
    ...(typeof noneAtMs === 'number' && { noneAtMs }),
  };
}

function sentOf(value: Json | undefined): SentContent | undefined {
  if (!isJsonObject(value)) return undefined;
  const { desired, inputs } = value;
  return typeof desired === 'string' && typeof inputs === 'string'
    ? { desired, inputs }
    : undefined;
}

function isTextMap(value: Json | undefined): value is JsonObject & Record<string, string> {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
