import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject } from '../../util/json.ts';
import { pathOf } from '../api/paths.ts';
import type { ApiClient } from '../client/api-client.ts';
import { KubeError } from '../kube-error.ts';
import type { InformerQuery, ResourceType } from '../roles.ts';
import { informerFlow, pathTargetOf, selectorParameters } from './collection-request.ts';

export interface ListRequest {
  readonly api: ApiClient;
  readonly type: ResourceType;
  readonly query: InformerQuery;
  /** Objects per page; undefined: all in one. */
  readonly pageSize: number | undefined;
}

/** One page of a list. All pages of a list are of one snapshot. */
export interface ListPage {
  readonly version: string;
  /** Decoded, and nobody else's. */
  readonly items: readonly unknown[];
  readonly isFirst: boolean;
}

const pageTimeoutMs = 60_000;

/**
 * Lists a collection page by page, at its present state (no resourceVersion: a consistent read).
 * Between pages the event loop turns.
 * @throws KubeError; `gone` when a page came so late that its snapshot is forgotten.
 */
export async function* listPages(
  request: ListRequest,
  signal: AbortSignal,
): AsyncGenerator<ListPage> {
  let token: string | undefined;
  do {
    const body = await requestPage(request, token, signal);
    const page = readPage(body);
    yield { version: page.version, items: page.items, isFirst: token === undefined };
    token = page.token;
    if (token !== undefined) await nextTurn(undefined, { signal });
  } while (token !== undefined);
}

/** The version that a collection has now, for the price of one object. @throws KubeError */
export async function presentVersion(
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
  // Go writes an empty list of some kinds as null.
  const items: readonly unknown[] = Array.isArray(body.items) ? body.items : [];
  const hasMore = typeof token === 'string' && token !== '';
  return { version: resourceVersion, items, token: hasMore ? token : undefined };
}

function notAList(): KubeError {
  const message = 'Expected a list with a resourceVersion, found something else';
  return new KubeError('unexpected', message, { status: 200 });
}
