import type { Clock } from '../../util/clock.ts';
import type { JsonObject } from '../../util/json.ts';
import type { Readable, ServedKind } from '../kinds/index.ts';
import type { ListOptions } from '../rest/index.ts';
import { inVersion } from '../rest/index.ts';
import {
  expired,
  plainFailure,
  type StatusError,
  tooLargeResourceVersion,
} from '../status/index.ts';
import type { ObjectStore, StoredObject, StoreEvent } from '../store/index.ts';
import { LineStream } from './line-stream.ts';

export interface WatchOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly kind: ServedKind;
  /** Empty = all. */
  readonly namespace: string;
  readonly options: ListOptions;
  /** How an object is shown; undefined = as it is. */
  readonly show: ((object: JsonObject) => JsonObject) | undefined;
  /** How bookmarks are shown; undefined = as they are. */
  readonly showBookmark?: ((object: JsonObject) => JsonObject) | undefined;
}

/** Between bookmarks that tell nothing but how far the watch is. */
const bookmarkIntervalMs = 60_000;

/** A watch without a limit of its own ends after this time. */
const longestWatchMs = 3_600_000;

/** A reader that takes nothing is cut off when this much waits for it. */
const maxBacklog = 50_000_000;

/**
 * Opens a watch: what is there now or what changed since a version, then every change.
 * @throws StatusError for a version that cannot be read.
 */
export function watchObjects(watch: WatchOptions): AsyncIterable<string> {
  const { store, options } = watch;
  const from = startVersion(store, options);
  return new WatchSession(watch).open(from);
}

/** Undefined = begin with what is there. */
function startVersion(store: ObjectStore, options: ListOptions): number | undefined {
  const { resourceVersion, sendsInitialEvents } = options;
  if (resourceVersion !== '' && !/^\d+$/.test(resourceVersion)) {
    const quoted = JSON.stringify(resourceVersion);
    const problem = `Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`;
    throw plainFailure(`resourceVersion: ${problem}`);
  }
  const version = Number(resourceVersion);
  if (sendsInitialEvents === true) return undefined;
  if (resourceVersion === '' || version === 0)
    return sendsInitialEvents === false ? store.version : undefined;
  return version;
}

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

class WatchSession {
  readonly #watch: WatchOptions;
  readonly #stream: LineStream;
  readonly #cancels: (() => void)[] = [];
  /** Changes up to here need no mention. */
  #seenVersion = 0;
  /** The version that the reader knows. */
  #toldVersion = 0;

  constructor(watch: WatchOptions) {
    this.#watch = watch;
    this.#stream = new LineStream(() => this.#close());
  }

  open(from: number | undefined): AsyncIterable<string> {
    const { store, kind, options } = this.#watch;
    const asked = Number(options.resourceVersion);
    if (options.sendsInitialEvents === true && asked > store.version) {
      this.#fail(tooLargeResourceVersion(asked, store.version));
      return this.#stream;
    }
    if (from === undefined) this.#sendCurrent();
    else {
      // What came before the last change of its CRD, nobody remembers.
      const oldest = Math.max(store.oldestVersion, kind.life?.since ?? 0);
      const missed = from < oldest ? undefined : store.eventsAfter(kind.collection, from);
      if (missed === undefined) {
        this.#fail(expired(`too old resource version: ${from} (${oldest})`));
        return this.#stream;
      }
      for (const event of missed) this.#onEvent(event);
      this.#seenVersion = Math.max(from, store.version);
      this.#toldVersion = Math.max(from, this.#toldVersion);
    }
    const unsubscribe = store.subscribe((event) => {
      // Opened while changes are being told, it has seen them already.
      if (event.version > this.#seenVersion) this.#onEvent(event);
    });
    this.#cancels.push(unsubscribe);
    if (kind.life !== undefined) this.#cancels.push(kind.life.onEnd(() => this.#stream.end()));
    this.#schedule(options);
    return this.#stream;
  }

  #close(): void {
    for (const cancel of this.#cancels.splice(0)) cancel();
  }

  #sendCurrent(): void {
    const { store, kind, options } = this.#watch;
    for (const stored of store.list(kind.collection))
      if (this.#isWatched(stored)) this.#send('ADDED', stored);
    this.#seenVersion = store.version;
    if (options.allowsBookmarks) this.#bookmark({ 'k8s.io/initial-events-end': 'true' });
  }

  #schedule({ timeoutSeconds, allowsBookmarks }: ListOptions): void {
    const { clock } = this.#watch;
    const limitMs = timeoutSeconds === undefined ? longestWatchMs : timeoutSeconds * 1000;
    this.#cancels.push(clock.after(limitMs, () => this.#stream.end()));
    if (!allowsBookmarks) return;
    const beforeEndMs = limitMs - 2000;
    if (beforeEndMs > 0) this.#cancels.push(clock.after(beforeEndMs, () => this.#bookmarkNews()));
    this.#bookmarkLater();
  }

  #bookmarkLater(): void {
    const { clock } = this.#watch;
    const cancel = clock.after(bookmarkIntervalMs, () => {
      this.#bookmarkNews();
      this.#bookmarkLater();
    });
    this.#cancels.push(cancel);
  }

  /** Objects that come to match are added, those that cease to are deleted. */
  #onEvent(event: StoreEvent): void {
    if (event.collection !== this.#watch.kind.collection) return;
    const { before, after, last } = event;
    const wasWatched = before !== undefined && this.#isWatched(before);
    const isWatched = after !== undefined && this.#isWatched(after);
    if (isWatched || wasWatched) this.#toldVersion = event.version;
    if (isWatched) this.#send(wasWatched ? 'MODIFIED' : 'ADDED', after);
    else if (wasWatched) this.#send('DELETED', after === undefined ? last : asOf(before, last));
    this.#seenVersion = Math.max(this.#seenVersion, event.version);
  }

  #isWatched(stored: StoredObject): boolean {
    const { namespace, options, kind } = this.#watch;
    if (namespace !== '' && stored.namespace !== namespace) return false;
    return !options.hasSelector || options.matches(inVersion(kind, stored));
  }

  #send(type: EventType, stored: StoredObject | Readable): void {
    this.#write(`{"type":"${type}","object":${this.#text(stored)}}\n`);
  }

  #text(stored: StoredObject | Readable): string {
    const { kind, show } = this.#watch;
    const object = inVersion(kind, stored);
    if (show === undefined && 'json' in stored && object === stored.object) return stored.json();
    return JSON.stringify(show === undefined ? object : show(object));
  }

  /** Only where the world has gone on since the reader was told anything. */
  #bookmarkNews(): void {
    if (this.#watch.store.version > this.#toldVersion) this.#bookmark(undefined);
  }

  #bookmark(annotations: JsonObject | undefined): void {
    const { kind, showBookmark, store } = this.#watch;
    this.#toldVersion = Math.max(this.#seenVersion, store.version);
    const bookmark = {
      kind: kind.names.kind,
      apiVersion: kind.apiVersion,
      metadata: {
        resourceVersion: String(this.#toldVersion),
        ...(annotations === undefined ? {} : { annotations }),
      },
    };
    const object = showBookmark?.(bookmark) ?? bookmark;
    this.#write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  #write(line: string): void {
    this.#stream.write(line);
    if (this.#stream.backlog > maxBacklog) this.#stream.end();
  }

  #fail(error: StatusError): void {
    this.#stream.write(`${JSON.stringify({ type: 'ERROR', object: error.body() })}\n`);
    this.#stream.end();
  }
}

/** What left a selector is shown as it was, at the version at which it left. */
function asOf(before: StoredObject, last: StoredObject): Readable {
  const metadata = {
    ...(before.object.metadata as JsonObject),
    resourceVersion: String(last.version),
  };
  return { object: { ...before.object, metadata }, version: before.version };
}
