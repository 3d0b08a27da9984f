import type { Logger } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import type { Gvk } from '#util/gvk.ts';
import { errorLogFields } from '#util/homeostat-error.ts';
import { isJsonObject } from '#util/json.ts';
import type { Random } from '#util/random.ts';
import type { ApiClient } from '../client/api-client.ts';
import { informerFlow } from './list-pages.ts';
import type { ResolvedInformerSettings } from './reflector-context.ts';
import { RetryDelay } from './retry-pause.ts';
import { LineSplitter, readWatchLine } from './watch-events.ts';
import { IdleWatchdog } from './watch-into-store.ts';

/** Notifies when a missing kind may have become available. */
export interface KindNotifier {
  /**
   * Calls the listener when a CustomResourceDefinition of the kind's group is created or changed. Returns the
   * unsubscribe function.
   */
  onChange(gvk: Gvk, listener: () => void): () => void;
}

interface KindNotifierOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: ResolvedInformerSettings;
}

export interface ClosableKindNotifier extends KindNotifier {
  /** Stops the watch. */
  close(): Promise<void>;
}

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** Only names are needed, and a CRD can have a megabyte. */
const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/**
 * Watches the names of CustomResourceDefinitions only while a kind is missing. Stores nothing: a watch without a
 * version starts with all existing objects. An unneeded notification costs one discovery request.
 */
export function createKindNotifier(options: KindNotifierOptions): ClosableKindNotifier {
  return new WatchedArrivals(options);
}

class WatchedArrivals implements ClosableKindNotifier {
  readonly #options: KindNotifierOptions;
  readonly #delay: RetryDelay;
  readonly #listeners = new Map<() => void, string>();
  #stop: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: KindNotifierOptions) {
    this.#options = options;
    this.#delay = new RetryDelay(options);
  }

  onChange({ group }: Gvk, listener: () => void): () => void {
    const call = () => listener();
    this.#listeners.set(call, group);
    this.#start();
    return () => {
      this.#listeners.delete(call);
      if (this.#listeners.size > 0) return;
      this.#stop?.abort();
      this.#stop = undefined;
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#stop?.abort();
    await this.#running;
  }

  #start(): void {
    if (this.#stop !== undefined || this.#isClosed) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#running = this.#run(stop.signal, this.#running);
  }

  /** One watch at a time: a stopped watch ends before the next one starts. */
  async #run(signal: AbortSignal, before: Promise<void>): Promise<void> {
    await before;
    while (!signal.aborted) {
      try {
        await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#options.logger.debug(
          errorLogFields(error),
          'Watching CustomResourceDefinitions failed, will retry',
        );
      }
      this.#delay.fail();
      await this.#options.clock.sleep(this.#delay.delayMs(), signal).catch(() => {});
    }
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { api, clock, random, settings } = this.#options;
    const timeoutSeconds = Math.floor(settings.watchTimeoutSeconds * (1 + random.fraction()));
    const query = {
      watch: '1',
      // With bookmarks, an idle watch means a dead connection.
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(timeoutSeconds),
    };
    const stream = await api.stream({ path, query, accept, flow: informerFlow }, signal);
    const close = () => stream.close();
    signal.addEventListener('abort', close, { once: true });
    const watchdog = new IdleWatchdog(clock, settings.idleTimeoutMs, close);
    const splitter = new LineSplitter(settings.maxLineLength, settings.onHeld);
    try {
      for await (const chunk of stream.chunks) {
        watchdog.touch();
        for (const line of splitter.push(chunk)) if (line !== '') this.#notify(line);
      }
    } finally {
      watchdog.stop();
      signal.removeEventListener('abort', close);
      splitter.drop();
      close();
    }
  }

  #notify(line: string): void {
    const event = readWatchLine(line, this.#options.settings.jsonLimits);
    if (event.kind !== 'changed') return;
    this.#delay.reset();
    const group = groupOf(event.object);
    for (const [listener, expected] of [...this.#listeners]) {
      if (group === undefined || group === expected) listener();
    }
  }
}

/** `example.com` of the CRD `things.example.com`. */
function groupOf(crd: unknown): string | undefined {
  const metadata = isJsonObject(crd) ? crd.metadata : undefined;
  const name = isJsonObject(metadata) ? metadata.name : undefined;
  return typeof name === 'string' ? name.slice(name.indexOf('.') + 1) : undefined;
}
