import type { Clock } from '#util/clock.ts';
import type { JsonObject } from '#util/json.ts';
import type { ServedKind, VersionedObject } from '../kinds/served-kind.ts';
import type { ListOptions } from '../rest/list-options.ts';
import { inVersion } from '../rest/rest-context.ts';
import { expired, plainError, tooLargeResourceVersion } from '../status/api-errors.ts';
import { StatusError } from '../status/status-error.ts';
import type { ObjectStore, StoreEvent } from '../store/object-store.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { LineStream } from './line-stream.ts';

export interface WatchOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly kind: ServedKind;
  /** Empty = all namespaces. */
  readonly namespace: string;
  readonly options: ListOptions;
  /** Converts objects to their representation; undefined = no conversion. */
  readonly convert: ((object: JsonObject) => JsonObject) | undefined;
  /** Converts bookmarks; undefined = no conversion. */
  readonly convertBookmark?: ((object: JsonObject) => JsonObject) | undefined;
}

/** The interval between bookmarks. */
const bookmarkIntervalMs = 60_000;

/** The duration of a watch without a timeout, in ms. */
const longestWatchMs = 3_600_000;

/** The watch ends when this many characters are pending for a reader. */
const maxBacklog = 50_000_000;

/**
 * Opens a watch: sends the current objects, or the changes since a version, then every change.
 * @throws StatusError for an invalid version
 */
export function watchObjects(watch: WatchOptions): AsyncIterable<string> {
  const { store, options } = watch;
  const from = startVersion(store, options);
  return new WatchSession(watch).open(from);
}

/** Undefined = begin with the current objects. */
function startVersion(store: ObjectStore, options: ListOptions): number | undefined {
  const { resourceVersion, sendsInitialEvents } = options;
  if (resourceVersion !== '' && !/^\d+$/.test(resourceVersion)) {
    const quoted = JSON.stringify(resourceVersion);
    const problem = `Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`;
    throw plainError(`resourceVersion: ${problem}`);
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
  /** Changes up to this version are not sent. */
  #seenVersion = 0;

  constructor(watch: WatchOptions) {
    this.#watch = watch;
    this.#stream = new LineStream(() => this.#close());
  }

  open(from: number | undefined): AsyncIterable<string> {
    const { store, kind, options } = this.#watch;
    const requested = Number(options.resourceVersion);
    if (options.sendsInitialEvents === true && requested > store.version) {
      this.#fail(tooLargeResourceVersion(requested, store.version));
      return this.#stream;
    }
    if (from === undefined) this.#sendCurrent();
    else {
      // The history is invalid before the last change of the CRD.
      const oldest = Math.max(store.oldestVersion, kind.servingPeriod?.since ?? 0);
      const missed = from < oldest ? undefined : store.eventsAfter(kind.collection, from);
      if (missed === undefined) {
        this.#fail(expired(`too old resource version: ${from} (${oldest})`));
        return this.#stream;
      }
      for (const event of missed) this.#onEvent(event);
      this.#seenVersion = Math.max(from, store.version);
    }
    const unsubscribe = store.subscribe((event) => {
      // A watch that is opened while listeners run has sent these changes already.
      if (event.version > this.#seenVersion) this.#onEvent(event);
    });
    this.#cancels.push(unsubscribe);
    if (kind.servingPeriod !== undefined)
      this.#cancels.push(kind.servingPeriod.onEnd(() => this.#stream.end()));
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
    if (beforeEndMs > 0) this.#cancels.push(clock.after(beforeEndMs, () => this.#bookmark()));
    this.#scheduleBookmark();
  }

  #scheduleBookmark(): void {
    const { clock } = this.#watch;
    const cancel = clock.after(bookmarkIntervalMs, () => {
      this.#bookmark();
      this.#scheduleBookmark();
    });
    this.#cancels.push(cancel);
  }

  /** Objects that start to match are sent as added, those that stop matching as deleted. */
  #onEvent(event: StoreEvent): void {
    if (event.collection !== this.#watch.kind.collection) return;
    try {
      this.#sendChange(event);
    } catch (error) {
      // An object that cannot be converted ends the watches of its version.
      if (!(error instanceof StatusError)) throw error;
      this.#stream.end();
    }
  }

  #sendChange(event: StoreEvent): void {
    const { before, after, last } = event;
    const wasWatched = before !== undefined && this.#isWatched(before);
    const isWatched = after !== undefined && this.#isWatched(after);
    if (isWatched) this.#send(wasWatched ? 'MODIFIED' : 'ADDED', after);
    else if (wasWatched) this.#send('DELETED', after === undefined ? last : asOf(before, last));
    this.#seenVersion = Math.max(this.#seenVersion, event.version);
  }

  #isWatched(stored: StoredObject): boolean {
    const { namespace, options, kind } = this.#watch;
    if (namespace !== '' && stored.namespace !== namespace) return false;
    return !options.hasSelector || options.matches(inVersion(kind, stored));
  }

  #send(type: EventType, stored: StoredObject | VersionedObject): void {
    this.#write(`{"type":"${type}","object":${this.#text(stored)}}\n`);
  }

  #text(stored: StoredObject | VersionedObject): string {
    const { kind, convert } = this.#watch;
    const object = inVersion(kind, stored);
    if (convert === undefined && 'json' in stored && object === stored.object) return stored.json();
    return JSON.stringify(convert === undefined ? object : convert(object));
  }

  /** Sent also where nothing has changed: in a cluster with nodes something always has, and a watch without data is taken for dead. */
  #bookmark(annotations?: JsonObject): void {
    const { kind, convertBookmark: showBookmark, store } = this.#watch;
    const bookmark = {
      kind: kind.names.kind,
      apiVersion: kind.apiVersion,
      metadata: {
        resourceVersion: String(Math.max(this.#seenVersion, store.version)),
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

/** An object that stops matching is sent in its previous state, at the version of the change. */
function asOf(before: StoredObject, last: StoredObject): VersionedObject {
  const metadata = {
    ...(before.object.metadata as JsonObject),
    resourceVersion: String(last.version),
  };
  return { object: { ...before.object, metadata }, version: before.version };
}
