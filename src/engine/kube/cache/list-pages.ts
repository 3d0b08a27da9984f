import { isJsonObject } from '#util/json.ts';
import { nextTurn } from '#util/next-turn.ts';
import { type PathTarget, pathOf } from '../api/paths.ts';
import type { ApiClient } from '../client/api-client.ts';
import { KubeError } from '../kube-error.ts';
import type { Flow, InformerQuery, ResourceType } from '../roles.ts';
import { isVersion, type ObjectDecoder } from './object-decoder.ts';
import type { ObjectStore } from './object-store.ts';

export interface ListRequest {
  readonly api: ApiClient;
  readonly type: ResourceType;
  readonly query: InformerQuery;
  /** Objects per page. Undefined: one page. */
  readonly pageSize: number | undefined;
  /** The server is not trusted: its list must end. @default false */
  readonly isForeign?: boolean;
}

/** One page of a list. All pages belong to one snapshot. */
export interface ListPage {
  readonly version: string;
  /** Decoded; not shared. */
  readonly items: readonly unknown[];
  readonly isFirst: boolean;
}

const pageTimeoutMs = 60_000;
/** Those of Kubernetes contain the key of an object, and have some hundred characters. */
const maxTokenLength = 16_384;

/**
 * Lists a collection page by page, without resourceVersion: a consistent read. Yields to the event loop between
 * pages.
 * @throws KubeError; `gone` when the snapshot expired between two pages.
 */
async function* listPages(request: ListRequest, signal: AbortSignal): AsyncGenerator<ListPage> {
  let token: string | undefined;
  do {
    const body = await requestPage(request, token, signal);
    const page = readPage(body);
    if (request.isForeign === true) assertPage(page, token);
    yield { version: page.version, items: page.items, isFirst: token === undefined };
    token = page.token;
    if (token !== undefined) await nextTurn();
  } while (token !== undefined);
}

/** The current version of a collection. Reads one object. @throws KubeError */
export async function currentVersion(
  request: Omit<ListRequest, 'pageSize'>,
  signal: AbortSignal,
): Promise<string> {
  return readPage(await requestPage({ ...request, pageSize: 1 }, undefined, signal)).version;
}

async function requestPage(
  { api, type, query, pageSize }: ListRequest,
  token: string | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const { body } = await api.request(
    {
      method: 'GET',
      path: pathOf(type, pathTargetOf(query)),
      query: {
        ...selectorParameters(query),
        ...(pageSize === undefined ? {} : { limit: String(pageSize) }),
        ...(token === undefined ? {} : { continue: token }),
      },
      flow: informerFlow,
      timeoutMs: pageTimeoutMs,
    },
    signal,
  );
  return body;
}

function readPage(body: unknown) {
  if (!isJsonObject(body) || !isJsonObject(body.metadata)) throw notAList();
  const { resourceVersion, continue: token } = body.metadata;
  if (typeof resourceVersion !== 'string' || resourceVersion === '') throw notAList();
  // For some kinds, an empty list is null.
  const items: readonly unknown[] = Array.isArray(body.items) ? body.items : [];
  const hasMore = typeof token === 'string' && token !== '';
  return { version: resourceVersion, items, token: hasMore ? token : undefined };
}

/** A list without an end would take all time of this process. Versions and tokens become parts of URLs. */
function assertPage(page: ReturnType<typeof readPage>, before: string | undefined): void {
  const { version, items, token = '' } = page;
  const hasMore = token !== '';
  if (!isVersion(version) || token.length > maxTokenLength) throw notAList();
  if (hasMore && (items.length === 0 || token === before)) throw endlessList();
}

function endlessList(): KubeError {
  const message = 'The list does not end: a page adds no object';
  return new KubeError('unexpected', message, { status: 200 });
}

function notAList(): KubeError {
  const message = 'The response is not a list with a resourceVersion';
  return new KubeError('unexpected', message, { status: 200 });
}

/** The flow of lists and watches. */
export const informerFlow: Flow = { name: 'informer', priority: 'object' };

/** The path of the query's collection. */
export function pathTargetOf({ namespace }: InformerQuery): PathTarget {
  return namespace === undefined ? {} : { namespace };
}

/** A query's selectors as URL parameters. */
export function selectorParameters(query: InformerQuery): Readonly<Record<string, string>> {
  const { labelSelector, fieldSelector } = query;
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

interface ListIntoStoreOptions {
  readonly api: ApiClient;
  readonly type: ResourceType;
  readonly query: InformerQuery;
  readonly pageSize: number;
  readonly store: ObjectStore;
  readonly decode: ObjectDecoder;
  /** See {@link ListRequest}. @default false */
  readonly isForeign?: boolean;
}

/**
 * Lists a collection into a store page by page. If the snapshot expires, it lists again in one page (`whole`).
 * @throws KubeError. An incomplete list leaves the store consistent.
 */
export async function listIntoStore(
  options: ListIntoStoreOptions,
  signal: AbortSignal,
): Promise<'paged' | 'whole'> {
  const isDone = await tryList(options, options.pageSize, signal);
  if (isDone) return 'paged';
  await tryList(options, undefined, signal);
  return 'whole';
}

/** False when the snapshot expired after the first page. */
async function tryList(
  { api, type, query, store, decode, isForeign = false }: ListIntoStoreOptions,
  pageSize: number | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const listing = store.startList();
  let pages = 0;
  try {
    const request = { api, type, query, pageSize, isForeign };
    let objectCount = 0;
    for await (const page of listPages(request, signal)) {
      // Drop pages that arrive after the abort.
      signal.throwIfAborted();
      const objects = page.items.map((item) => decode(item, query.gvk));
      listing.add(page.version, objects);
      objectCount += objects.length;
      if (isForeign && listing.size < objectCount) throw endlessList();
      pages += 1;
    }
  } catch (error) {
    if (pages > 0 && error instanceof KubeError && error.code === 'gone') return false;
    throw error;
  }
  listing.finish();
  return true;
}
