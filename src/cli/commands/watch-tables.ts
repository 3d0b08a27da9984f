import { errorFromResponse, type KindInfo } from '#kube';
import { backoffMs } from '#util/backoff.ts';
import { isJsonObject } from '#util/json.ts';
import { jsonLines } from '#util/json-lines.ts';
import { pause } from '#util/pause.ts';
import { type ClusterSession, cliFlow } from './cluster-session.ts';
import { pathFor, type Selection } from './requests.ts';

export interface TableWatch {
  readonly kind: KindInfo;
  readonly selection: Selection;
  /** Media type of the tables. */
  readonly accept: string;
  readonly resourceVersion: string;
  /** A table with the rows of an event, without columns after the first one. */
  readonly onTable: (table: unknown) => void;
}

/** Pauses after watches that the server ends soon. */
const reopening = { baseDelayMs: 100, maxDelayMs: 30_000 };
/** A watch that has lasted so long ends the row of those: API servers end watches after some minutes. */
const stableMs = 30_000;

/**
 * Follows the objects of a kind as tables until the signal aborts. A watch that the server ends is opened again from where it was,
 * after a pause that doubles while each of them ends soon.
 * @throws KubeError when the server rejects the watch, also when it no longer knows the version.
 */
export async function watchTables(session: ClusterSession, watch: TableWatch): Promise<void> {
  const { clock, signal } = session;
  let { resourceVersion } = watch;
  let ends = 0;
  while (!signal.aborted) {
    const openedMs = clock.monotonicMs();
    try {
      for await (const event of eventsOf(session, watch, resourceVersion)) {
        resourceVersion = versionOf(event.object) ?? resourceVersion;
        if (event.type !== 'BOOKMARK') watch.onTable(event.object);
      }
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    if (clock.monotonicMs() - openedMs >= stableMs) ends = 0;
    await pause(clock, backoffMs(ends++, reopening), signal);
  }
}

interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

async function* eventsOf(
  session: ClusterSession,
  { kind, selection, accept }: TableWatch,
  resourceVersion: string,
): AsyncGenerator<WatchEvent> {
  const { name, selector } = selection;
  const query = {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
  };
  const { name: _, ...collection } = selection;
  const path = pathFor(session, kind, collection);
  const request = { path, query, accept, flow: cliFlow };
  const { chunks } = await session.cluster.api.stream(request, session.signal);
  for await (const value of jsonLines(chunks)) {
    const event = value as WatchEvent;
    if (event.type === 'ERROR')
      throw errorFromResponse({ status: codeOf(event.object), body: event.object });
    yield event;
  }
}

function codeOf(status: unknown): number {
  return isJsonObject(status) && typeof status.code === 'number' ? status.code : 500;
}

/** The version of a table, or that of the object in its last row. */
export function versionOf(table: unknown): string | undefined {
  if (!isJsonObject(table)) return undefined;
  const rows = Array.isArray(table.rows) ? table.rows.filter(isJsonObject) : [];
  const versions = [table, rows.at(-1)?.object].map((object) => {
    const metadata = isJsonObject(object) ? object.metadata : undefined;
    return isJsonObject(metadata) ? metadata.resourceVersion : undefined;
  });
  const known = versions.find((version) => typeof version === 'string' && version !== '');
  return known === undefined ? undefined : String(known);
}
