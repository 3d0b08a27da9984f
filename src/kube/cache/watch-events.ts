import { isJsonObject } from '../../util/json.ts';
import { pathOf } from '../api/paths.ts';
import type { ApiClient, ApiStream } from '../client/api-client.ts';
import { errorOfStatus } from '../errors.ts';
import { KubeError } from '../kube-error.ts';
import type { InformerQuery, ResourceType } from '../roles.ts';
import { informerFlow, pathTargetOf, selectorParameters } from './collection-request.ts';

export interface WatchRequest {
  readonly api: ApiClient;
  readonly type: ResourceType;
  readonly query: InformerQuery;
  /** What came after this version is sent. */
  readonly fromVersion: string;
  /** When the server is to end the watch. */
  readonly timeoutSeconds: number;
}

/** One event of a watch. Objects are decoded, and nobody else's. */
export type WatchEvent =
  | { readonly kind: 'changed'; readonly object: unknown }
  | { readonly kind: 'deleted'; readonly object: unknown }
  | { readonly kind: 'bookmark'; readonly version: string }
  /** Of a type that we do not know. */
  | { readonly kind: 'unknown'; readonly type: string };

/** Opens a watch with bookmarks. @throws KubeError */
export function openWatch(request: WatchRequest, signal: AbortSignal): Promise<ApiStream> {
  const { api, type, query, fromVersion, timeoutSeconds } = request;
  return api.stream(
    {
      path: pathOf(type, pathTargetOf(query)),
      query: {
        watch: '1',
        allowWatchBookmarks: 'true',
        resourceVersion: fromVersion,
        timeoutSeconds: String(timeoutSeconds),
        ...selectorParameters(query),
      },
      flow: informerFlow,
    },
    signal,
  );
}

/**
 * Reads one line of a watch.
 * @throws KubeError that an ERROR event tells (`gone`: the version to watch from is forgotten), or `unexpected` for a line
 *   that cannot be read.
 */
export function readWatchLine(line: string): WatchEvent {
  const { type, object } = parseLine(line);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { kind: 'changed', object };
    case 'DELETED':
      return { kind: 'deleted', object };
    case 'BOOKMARK':
      return { kind: 'bookmark', version: versionOf(object) };
    case 'ERROR':
      throw errorOfStatus(object);
    default:
      return { kind: 'unknown', type };
  }
}

function parseLine(line: string): { readonly type: string; readonly object: unknown } {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (error) {
    throw brokenLine(error);
  }
  if (!isJsonObject(event) || typeof event.type !== 'string') throw brokenLine(undefined);
  return { type: event.type, object: event.object };
}

function versionOf(bookmark: unknown): string {
  const metadata = isJsonObject(bookmark) ? bookmark.metadata : undefined;
  const version = isJsonObject(metadata) ? metadata.resourceVersion : undefined;
  if (typeof version === 'string') return version;
  throw brokenLine(undefined);
}

function brokenLine(cause: unknown): KubeError {
  const message = 'Expected a line of a watch to be an event in JSON, found something else';
  return new KubeError('unexpected', message, { status: 200, cause });
}
