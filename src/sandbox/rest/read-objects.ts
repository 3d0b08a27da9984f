import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import {
  badRequest,
  expired,
  expiredPage,
  notFound,
  tooLargeResourceVersion,
} from '../status/api-errors.ts';
import type { StatusError } from '../status/status-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ListOptions } from './list-options.ts';
import { inVersion, type RestContext, type Target } from './rest-context.ts';
import { findStored } from './update-object.ts';

/** GET of an object. @throws StatusError 404 */
export function getObject(context: RestContext, target: Target, version: string): JsonObject {
  parseVersion(context, version);
  const stored = findStored(context, target);
  if (stored === undefined) throw notFound(target.kind.names, target.name);
  return inVersion(target.kind, stored);
}

/** One page of a collection. */
export interface ListPage {
  readonly version: number;
  readonly items: readonly StoredObject[];
  readonly continueToken: string;
  readonly remaining: number | undefined;
}

/**
 * The objects of a collection that match the list options.
 * @throws StatusError 400, 410 for an expired version, 504 for a version in the future
 */
export function listObjects(context: RestContext, target: Target, options: ListOptions): ListPage {
  const { store } = context;
  const { limit, matches, hasSelector } = options;
  const { version, start } = pageStart(context, options);
  const all = store.listAt(target.kind.collection, version);
  if (all === undefined) {
    if (options.continueToken === '')
      throw expired('The resourceVersion for the provided list is too old.');
    throw expiredPage(writeToken({ version: -1, start }));
  }
  const scope = target.namespace === '' ? '' : `${target.namespace}/`;
  const inScope = all.filter(
    ({ key }) => key.startsWith(scope) && (start === '' || keyWithin(scope, key) >= start),
  );
  const items: StoredObject[] = [];
  let seen = 0;
  for (const stored of inScope) {
    if (limit !== undefined && items.length === limit) break;
    seen++;
    if (matches(inVersion(target.kind, stored))) items.push(stored);
  }
  const remaining = inScope.length - seen;
  const last = inScope[seen - 1];
  if (remaining === 0 || last === undefined)
    return { version, items, continueToken: '', remaining: undefined };
  const continueToken = tokenAfter(version, keyWithin(scope, last.key));
  return { version, items, continueToken, remaining: hasSelector ? undefined : remaining };
}

/** Keys of objects without a namespace begin with a slash. */
function keyWithin(scope: string, key: string): string {
  return key.slice(scope.length).replace(/^\//, '');
}

function pageStart(context: RestContext, options: ListOptions) {
  const { store } = context;
  const { continueToken, resourceVersion, versionMatch } = options;
  const requested = parseVersion(context, resourceVersion);
  if (continueToken !== '') {
    if (resourceVersion !== '' && resourceVersion !== '0')
      throw badRequest('specifying resource version is not allowed when using continue');
    const token = readToken(continueToken);
    if (token.version > store.version) throw tooLargeResourceVersion(token.version, store.version);
    return token.version < 0 ? { ...token, version: store.version } : token;
  }
  const isExact =
    versionMatch === 'Exact' ||
    (versionMatch === undefined && options.limit !== undefined && requested > 0);
  return { version: isExact ? requested : store.version, start: '' };
}

/** The resourceVersion of a query; 0 when it is not set. @throws StatusError 400 or 504 */
function parseVersion({ store }: RestContext, text: string): number {
  if (text === '') return 0;
  if (!/^\d+$/.test(text)) {
    const quoted = JSON.stringify(text);
    const problem = `Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`;
    throw badRequest(`invalid resource version: resourceVersion: ${problem}`);
  }
  const version = Number(text);
  if (version > store.version) throw tooLargeResourceVersion(version, store.version);
  return version;
}

/** The start of the next page of a list. */
interface ContinueToken {
  /** The version of all pages; negative = the newest one. */
  readonly version: number;
  /** The first key of the page, within the scope of the list. */
  readonly start: string;
}

/** The token for the page that begins after this key, within the scope of the list. */
export function tokenAfter(version: number, last: string): string {
  return writeToken({ version, start: `${last}\0` });
}

export function writeToken({ version, start }: ContinueToken): string {
  const text = JSON.stringify({ v: tokenVersion, rv: version, start: `/${start}` });
  const bytes = new TextEncoder().encode(text);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** @throws StatusError 400 for an invalid token */
export function readToken(text: string): ContinueToken {
  const { v = '', rv = 0, start = '' } = parseToken(decodeBase64(text));
  if (v !== tokenVersion) throw invalidToken(`server does not recognize this encoded version ${v}`);
  if (rv === 0)
    throw invalidToken(`incorrect encoded start resourceVersion (version ${tokenVersion})`);
  if (start === '') throw invalidToken(`encoded start key empty (version ${tokenVersion})`);
  if (typeof rv !== 'number') throw invalidToken(wrongType(rv, 'rv of type int64'));
  if (typeof start !== 'string') throw invalidToken(wrongType(start, 'start of type string'));
  // It would leave the collection in the server's store.
  if (start.split('/').some((part) => part === '..' || part === '.')) throw invalidToken(start);
  return { version: rv, start: start.replace(/^\//, '') };
}

const tokenVersion = 'meta.k8s.io/v1';

function decodeBase64(text: string): string {
  const wrong = /[^-\w]/.exec(text)?.index ?? (text.length % 4 === 1 ? text.length - 1 : undefined);
  if (wrong !== undefined) throw invalidToken(`illegal base64 data at input byte ${wrong}`);
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

function parseToken(text: string): JsonObject {
  try {
    const token: unknown = JSON.parse(text);
    if (isJsonObject(token)) return token;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw invalidToken(`invalid character '${text.charAt(0)}' looking for beginning of value`);
}

function wrongType(value: Json, field: string): string {
  return `json: cannot unmarshal ${typeof value} into Go struct field continueToken.${field}`;
}

function invalidToken(problem: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${problem}`);
}
