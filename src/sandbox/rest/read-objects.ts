import type { JsonObject } from '../../util/json.ts';
import {
  badRequest,
  expired,
  expiredPage,
  notFound,
  tooLargeResourceVersion,
} from '../status/index.ts';
import type { StoredObject } from '../store/index.ts';
import { readToken, tokenAfter, writeToken } from './continue-token.ts';
import type { ListOptions } from './list-options.ts';
import type { RestContext, Target } from './rest-context.ts';
import { findStored } from './update-object.ts';
import { inVersion } from './versions.ts';

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
 * The objects of a collection that a list asks for.
 * @throws StatusError 400, 410 for a version that is forgotten, 504 for one that is not there yet.
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

/** Objects without a namespace have keys that begin with a slash. */
function keyWithin(scope: string, key: string): string {
  return key.slice(scope.length).replace(/^\//, '');
}

function pageStart(context: RestContext, options: ListOptions) {
  const { store } = context;
  const { continueToken, resourceVersion, versionMatch } = options;
  const asked = parseVersion(context, resourceVersion);
  if (continueToken !== '') {
    if (resourceVersion !== '' && resourceVersion !== '0')
      throw badRequest('specifying resource version is not allowed when using continue');
    const token = readToken(continueToken);
    if (token.version > store.version) throw tooLargeResourceVersion(token.version, store.version);
    return token.version < 0 ? { ...token, version: store.version } : token;
  }
  const isExact =
    versionMatch === 'Exact' ||
    (versionMatch === undefined && options.limit !== undefined && asked > 0);
  return { version: isExact ? asked : store.version, start: '' };
}

/** A resourceVersion of a query; 0 when it is not given. @throws StatusError 400 or 504 */
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
