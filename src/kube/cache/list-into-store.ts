import type { ApiClient } from '../client/api-client.ts';
import { KubeError } from '../kube-error.ts';
import type { InformerQuery, ResourceType } from '../roles.ts';
import type { Ingest } from './ingest.ts';
import { listPages } from './list-pages.ts';
import type { ObjectStore } from './object-store.ts';

export interface ListIntoStoreOptions {
  readonly api: ApiClient;
  readonly type: ResourceType;
  readonly query: InformerQuery;
  readonly pageSize: number;
  readonly store: ObjectStore;
  readonly ingest: Ingest;
}

/**
 * Lists a collection into a store, page by page; in one piece when a page came so late that the server had forgotten
 * the snapshot. Tells which.
 * @throws KubeError; what was stored by then does no harm.
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

/** False when a page after the first came too late. */
async function tryList(
  { api, type, query, store, ingest }: ListIntoStoreOptions,
  pageSize: number | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const listing = store.startList();
  let pages = 0;
  try {
    for await (const page of listPages({ api, type, query, pageSize }, signal)) {
      // Nobody asks any more for what comes after an abort.
      signal.throwIfAborted();
      const objects = page.items.map((item) => ingest(item, query.gvk));
      listing.add(page.version, objects);
      pages += 1;
    }
  } catch (error) {
    if (pages > 0 && error instanceof KubeError && error.code === 'gone') return false;
    throw error;
  }
  listing.finish();
  return true;
}
