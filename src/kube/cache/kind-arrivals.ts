import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { failureFields } from '../../util/failure-fields.ts';
import type { Gvk } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import type { Random } from '../../util/random.ts';
import type { ApiClient } from '../client/api-client.ts';
import { informerFlow } from './collection-request.ts';
import { IdleWatchdog } from './idle-watchdog.ts';
import type { ResolvedInformerSettings } from './informer-settings.ts';
import { LineSplitter } from './line-splitter.ts';
import { RetryDelay } from './retry-delay.ts';
import { readWatchLine } from './watch-events.ts';

/** Says when a kind that is not served may have come. */
export interface KindArrivals {
  /** Calls back whenever a CustomResourceDefinition of the kind's group comes or changes. Returns the unsubscribe function. */
  onNews(gvk: Gvk, listener: () => void): () => void;
}

export interface KindArrivalsOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: ResolvedInformerSettings;
}

export interface ClosableKindArrivals extends KindArrivals {
  /** Ends the watch. */
  close(): Promise<void>;
}

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** Names are all that is read, and a CRD may be as large as a megabyte. */
const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/**
 * Watches the names of CustomResourceDefinitions while a kind is missing, and not a moment longer. Keeps nothing: a watch
 * without a version begins with all that are there, and a listener that hears too much asks once too often.
 */
export function createKindArrivals(options: KindArrivalsOptions): ClosableKindArrivals {
  return new WatchedArrivals(options);
}

class WatchedArrivals implements ClosableKindArrivals {
  readonly #options: KindArrivalsOptions;
  readonly #delay: RetryDelay;
  readonly #listeners = new Map<() => void, string>();
  #stop: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: KindArrivalsOptions) {
    this.#options = options;
    this.#delay = new RetryDelay(options);
  }

  onNews({ group }: Gvk, listener: () => void): () => void {
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

  /** One at a time: a watch that was stopped ends before the next begins. */
  async #run(signal: AbortSignal, before: Promise<void>): Promise<void> {
    await before;
    while (!signal.aborted) {
      try {
        await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#options.logger.debug(failureFields(error), 'Kinds cannot be watched, will retry');
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
      // Only where bookmarks come is silence a sign of a dead connection.
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(timeoutSeconds),
    };
    const stream = await api.stream({ path, query, accept, flow: informerFlow }, signal);
    const close = () => stream.close();
    signal.addEventListener('abort', close, { once: true });
    const watchdog = new IdleWatchdog(clock, settings.idleTimeoutMs, close);
    try {
      const splitter = new LineSplitter();
      for await (const chunk of stream.chunks) {
        watchdog.touch();
        for (const line of splitter.push(chunk)) if (line !== '') this.#tell(line);
      }
    } finally {
      watchdog.stop();
      signal.removeEventListener('abort', close);
      close();
    }
  }

  #tell(line: string): void {
    const event = readWatchLine(line);
    if (event.kind !== 'changed') return;
    this.#delay.reset();
    const group = groupOf(event.object);
    for (const [listener, wanted] of [...this.#listeners]) {
      if (group === undefined || group === wanted) listener();
    }
  }
}

/** `example.com` of the CRD `things.example.com`. */
function groupOf(crd: unknown): string | undefined {
  const metadata = isJsonObject(crd) ? crd.metadata : undefined;
  const name = isJsonObject(metadata) ? metadata.name : undefined;
  return typeof name === 'string' ? name.slice(name.indexOf('.') + 1) : undefined;
}
