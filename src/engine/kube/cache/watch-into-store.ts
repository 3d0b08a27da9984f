import type { Clock } from '#util/clock.ts';
import type { JsonLimits } from '#util/json-scan.ts';
import type { InformerQuery } from '../roles.ts';
import type { ObjectDecoder } from './object-decoder.ts';
import type { ObjectStore } from './object-store.ts';
import { LineSplitter, openWatch, readWatchLine, type WatchRequest } from './watch-events.ts';

interface WatchIntoStoreOptions extends WatchRequest {
  readonly store: ObjectStore;
  readonly decode: ObjectDecoder;
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
  readonly maxLineLength: number;
  /** Of a line. */
  readonly jsonLimits: JsonLimits;
  readonly onOpen: () => void;
  /** Called after the idle timeout: the caller aborts the signal. */
  readonly onIdle: () => void;
  /** Called for every event and bookmark. */
  readonly onEvent: () => void;
  /** Called with how much the incomplete line has grown, or shrunk. */
  readonly onHeld: (length: number) => void;
  /** An event of unknown type was skipped. */
  readonly onUnknown: (type: string) => void;
}

/**
 * Watches a collection into a store until the server ends the watch or the signal aborts. Returns the number of
 * events.
 * @throws KubeError `gone` when a new list is needed, `unexpected` for an invalid line, and connection errors.
 */
export async function watchIntoStore(
  options: WatchIntoStoreOptions,
  signal: AbortSignal,
): Promise<number> {
  const { clock, idleTimeoutMs, onIdle, onOpen } = options;
  const stream = await openWatch(options, signal);
  const close = () => stream.close();
  signal.addEventListener('abort', close, { once: true });
  const watchdog = new IdleWatchdog(clock, idleTimeoutMs, onIdle);
  try {
    onOpen();
    return await takeChunks(stream.chunks, options, { watchdog, signal });
  } finally {
    watchdog.stop();
    signal.removeEventListener('abort', close);
    close();
  }
}

async function takeChunks(
  chunks: AsyncIterable<string>,
  options: WatchIntoStoreOptions,
  { watchdog, signal }: { readonly watchdog: IdleWatchdog; readonly signal: AbortSignal },
): Promise<number> {
  const splitter = new LineSplitter(options.maxLineLength, options.onHeld);
  let events = 0;
  try {
    for await (const chunk of chunks) {
      watchdog.touch();
      for (const line of splitter.push(chunk)) {
        // A listener may have aborted the watch: skip the rest of the chunk.
        if (signal.aborted) return events;
        if (line === '') continue;
        takeLine(line, options, options.query);
        events += 1;
      }
    }
    return events;
  } finally {
    splitter.drop();
  }
}

function takeLine(line: string, options: WatchIntoStoreOptions, { gvk }: InformerQuery): void {
  const { store, decode, onEvent, onUnknown } = options;
  const event = readWatchLine(line, options.jsonLimits);
  onEvent();
  switch (event.kind) {
    case 'changed':
      store.changed(decode(event.object, gvk));
      break;
    case 'deleted':
      store.deleted(decode(event.object, gvk));
      break;
    case 'bookmark':
      store.bookmark(event.version);
      break;
    case 'unknown':
      onUnknown(event.type);
  }
}

/** Calls `onIdle` once when `touch` was not called for `timeoutMs`. Call {@link stop} after use. */
export class IdleWatchdog {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #onIdle: () => void;
  #touchedMs: number;
  #cancel: () => void;

  constructor(clock: Clock, timeoutMs: number, onIdle: () => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#onIdle = onIdle;
    this.#touchedMs = clock.monotonicMs();
    this.#cancel = clock.after(timeoutMs, () => this.#check());
  }

  /** Cheap, because it is called for every chunk. */
  touch(): void {
    this.#touchedMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#cancel();
  }

  #check(): void {
    const leftMs = this.#touchedMs + this.#timeoutMs - this.#clock.monotonicMs();
    if (leftMs <= 0) this.#onIdle();
    else this.#cancel = this.#clock.after(leftMs, () => this.#check());
  }
}
