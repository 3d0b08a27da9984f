import type { Clock } from '../../util/clock.ts';
import type { InformerQuery } from '../roles.ts';
import { IdleWatchdog } from './idle-watchdog.ts';
import type { Ingest } from './ingest.ts';
import { LineSplitter } from './line-splitter.ts';
import type { ObjectStore } from './object-store.ts';
import { openWatch, readWatchLine, type WatchRequest } from './watch-events.ts';

export interface WatchIntoStoreOptions extends WatchRequest {
  readonly store: ObjectStore;
  readonly ingest: Ingest;
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
  readonly onOpen: () => void;
  /** Nothing came for the idle timeout: the caller aborts the signal. */
  readonly onIdle: () => void;
  /** Called for every event and bookmark. */
  readonly onEvent: () => void;
  /** An event of a type that we do not know was skipped. */
  readonly onUnknown: (type: string) => void;
}

/**
 * Watches a collection into a store until the server ends the watch, or the signal aborts. Returns the number of events.
 * @throws KubeError `gone` when it must be listed anew, `unexpected` for a line that cannot be read, and what breaks the
 *   connection.
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
  const splitter = new LineSplitter();
  let events = 0;
  for await (const chunk of chunks) {
    watchdog.touch();
    for (const line of splitter.push(chunk)) {
      // A listener may have stopped us; what is left of the chunk is for nobody.
      if (signal.aborted) return events;
      if (line === '') continue;
      takeLine(line, options, options.query);
      events += 1;
    }
  }
  return events;
}

function takeLine(line: string, options: WatchIntoStoreOptions, { gvk }: InformerQuery): void {
  const { store, ingest, onEvent, onUnknown } = options;
  const event = readWatchLine(line);
  onEvent();
  switch (event.kind) {
    case 'changed':
      store.changed(ingest(event.object, gvk));
      break;
    case 'deleted':
      store.deleted(ingest(event.object, gvk));
      break;
    case 'bookmark':
      store.bookmark(event.version);
      break;
    case 'unknown':
      onUnknown(event.type);
  }
}
