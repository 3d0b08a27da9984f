import { foreignText } from '#util/foreign-text.ts';
import { isJsonObject } from '#util/json.ts';
import type { JsonLimits } from '#util/json-scan.ts';
import { pathOf } from '../api/paths.ts';
import type { ApiClient, ApiStream } from '../client/api-client.ts';
import { parseLimited } from '../client/limited-json.ts';
import { errorFromStatus } from '../errors.ts';
import { KubeError } from '../kube-error.ts';
import type { InformerQuery, ResourceType } from '../roles.ts';
import { informerFlow, pathTargetOf, selectorParameters } from './list-pages.ts';
import { isVersion } from './object-decoder.ts';

export interface WatchRequest {
  readonly api: ApiClient;
  readonly type: ResourceType;
  readonly query: InformerQuery;
  /** The server sends changes after this version. */
  readonly fromVersion: string;
  /** Timeout after which the server ends the watch. */
  readonly timeoutSeconds: number;
}

/** One watch event. Objects are decoded and not shared. */
export type WatchEvent =
  | { readonly kind: 'changed'; readonly object: unknown }
  | { readonly kind: 'deleted'; readonly object: unknown }
  | { readonly kind: 'bookmark'; readonly version: string }
  /** Unknown event type. */
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
 * Parses one line of a watch.
 * @throws KubeError of an ERROR event (`gone`: the version expired), or `unexpected` for an invalid line, `too-large` beyond the limits.
 */
export function readWatchLine(line: string, limits: JsonLimits): WatchEvent {
  const { type, object } = parseLine(line, limits);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { kind: 'changed', object };
    case 'DELETED':
      return { kind: 'deleted', object };
    case 'BOOKMARK':
      return { kind: 'bookmark', version: versionOf(object) };
    case 'ERROR':
      throw errorFromStatus(object);
    default:
      return { kind: 'unknown', type: foreignText(type, 64) };
  }
}

function parseLine(
  line: string,
  limits: JsonLimits,
): { readonly type: string; readonly object: unknown } {
  let event: unknown;
  try {
    event = parseLimited(line, limits);
  } catch (error) {
    if (error instanceof KubeError) throw error;
    throw brokenLine(error);
  }
  if (!isJsonObject(event) || typeof event.type !== 'string') throw brokenLine(undefined);
  return { type: event.type, object: event.object };
}

function versionOf(bookmark: unknown): string {
  const metadata = isJsonObject(bookmark) ? bookmark.metadata : undefined;
  const version = isJsonObject(metadata) ? metadata.resourceVersion : undefined;
  if (typeof version === 'string' && isVersion(version)) return version;
  throw brokenLine(undefined);
}

function brokenLine(cause: unknown): KubeError {
  const message = 'The watch sent a line that is not a JSON event';
  return new KubeError('unexpected', message, { status: 200, cause });
}

function oversizedLine(maxLength: number): KubeError {
  const message = `The watch sent a line of more than ${maxLength} characters`;
  return new KubeError('too-large', message, { status: 200 });
}

/** What a piece of a line takes beside its characters: a server can send each character as a piece of its own. */
const pieceLength = 32;

/** Splits a chunked text into lines. Only at `\n`: JSON can contain other line separators. */
export class LineSplitter {
  readonly #maxLength: number;
  readonly #onHeld: (length: number) => void;
  /** Pieces of the incomplete line. Joined once, to avoid quadratic cost. */
  #pieces: string[] = [];
  #length = 0;

  /**
   * @param maxLength Of a line, in characters, with 32 for each piece in which it arrives.
   * @param onHeld Called with how much the incomplete line has grown, or shrunk. @default no action
   */
  constructor(maxLength: number, onHeld: (length: number) => void = () => {}) {
    this.#maxLength = maxLength;
    this.#onHeld = onHeld;
  }

  /** The lines completed by `chunk`, without line ends. @throws KubeError `too-large` */
  push(chunk: string): readonly string[] {
    const lines = chunk.split('\n');
    const rest = lines.pop() ?? '';
    const added = rest === '' ? 0 : rest.length + pieceLength;
    this.#hold(lines.length > 0 ? added : this.#length + added);
    if (this.#length > this.#maxLength) throw oversizedLine(this.#maxLength);
    if (lines.length > 0 && this.#pieces.length > 0) {
      this.#pieces.push(lines[0] ?? '');
      lines[0] = this.#pieces.join('');
      this.#pieces = [];
    }
    if (rest !== '') this.#pieces.push(rest);
    return lines;
  }

  /** Drops the incomplete line. */
  drop(): void {
    this.#pieces = [];
    this.#hold(0);
  }

  #hold(length: number): void {
    const before = this.#length;
    this.#length = length;
    if (length !== before) this.#onHeld(length - before);
  }
}
