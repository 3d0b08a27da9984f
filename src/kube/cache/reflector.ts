import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { gvkKey } from '../../util/gvk.ts';
import { invariant } from '../../util/invariant.ts';
import type { Random } from '../../util/random.ts';
import type { ApiClient } from '../client/api-client.ts';
import { KubeError } from '../kube-error.ts';
import type { Discovery, InformerQuery, InformerState, ResourceType } from '../roles.ts';
import { IdleWatchdog } from './idle-watchdog.ts';
import type { InformerMetrics } from './informer-metrics.ts';
import type { ResolvedInformerSettings } from './informer-settings.ts';
import type { Ingest } from './ingest.ts';
import { LineSplitter } from './line-splitter.ts';
import { listPages } from './list-pages.ts';
import type { ObjectStore } from './object-store.ts';
import { RetryDelay } from './retry-delay.ts';
import { openWatch, readWatchLine } from './watch-events.ts';

/** What informers share. */
export interface ReflectorContext {
  readonly api: ApiClient;
  readonly discovery: Discovery;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: InformerMetrics;
  readonly settings: ResolvedInformerSettings;
  readonly ingest: Ingest;
}

export interface ReflectorOptions {
  readonly context: ReflectorContext;
  readonly query: InformerQuery;
  readonly store: ObjectStore;
  /** Told of every state that the world gives reason for, also when it is the present one. */
  readonly onState: (state: InformerState) => void;
}

/** Why a list or a watch was cut by ourselves. */
type CutReason = 'idle' | 'schema-changed';

/** How a list or a watch came to its end. */
type StepEnd =
  | { readonly kind: 'listed' }
  /** The server ended the watch, as agreed. */
  | { readonly kind: 'ended' }
  /** The server ended the watch at once, without an event. */
  | { readonly kind: 'short' }
  | { readonly kind: 'cut'; readonly reason: CutReason }
  | { readonly kind: 'failed'; readonly error: KubeError }
  | { readonly kind: 'stopped' };

/** So many failed resumptions in a row, though the server answers, and the list is taken anew: it may know why. */
const resumptionsBeforeList = 5;

/**
 * Fills a store: lists, then watches from the list's version on, for ever. Every failure is waited out and tried again;
 * a list is taken anew only when the watch cannot go on from where it was.
 */
export class Reflector {
  readonly #context: ReflectorContext;
  readonly #query: InformerQuery;
  readonly #store: ObjectStore;
  readonly #onState: (state: InformerState) => void;
  readonly #log: Logger;
  readonly #delay: RetryDelay;
  #next: 'list' | 'watch' = 'list';
  #type: ResourceType | undefined;
  #cut: AbortController | undefined;
  #endPause: (() => void) | undefined;
  #idleInARow = 0;
  #lastActivityMs: number;

  constructor({ context, query, store, onState }: ReflectorOptions) {
    this.#context = context;
    this.#query = query;
    this.#store = store;
    this.#onState = onState;
    this.#log = context.logger.child({ kind: gvkKey(query.gvk), ...selectionOf(query) });
    this.#delay = new RetryDelay(context);
    this.#lastActivityMs = context.clock.monotonicMs();
  }

  /** When the last list, event or bookmark came; before the first, when the informer was made. Monotonic. */
  get lastActivityMs(): number {
    return this.#lastActivityMs;
  }

  /** Ends when the signal aborts; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const end = await this.#step(signal);
      await this.#goOn(end, signal);
    }
  }

  /** Tries again at once, where it waits after a failure. */
  retryNow(): void {
    this.#endPause?.();
  }

  /** Cuts whatever is under way and lists anew: objects of the same version may read differently now. */
  relist(reason: 'schema-changed'): void {
    this.#next = 'list';
    this.#cut?.abort(reason);
    this.#endPause?.();
  }

  async #step(signal: AbortSignal): Promise<StepEnd> {
    const cut = new AbortController();
    const onAbort = () => cut.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#cut = cut;
    try {
      const end = this.#next === 'list' ? await this.#list(cut.signal) : await this.#watch(cut);
      return cut.signal.aborted ? endOfCut(signal, cut) : end;
    } catch (error) {
      return cut.signal.aborted
        ? endOfCut(signal, cut)
        : { kind: 'failed', error: asKubeError(error) };
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#cut = undefined;
    }
  }

  async #goOn(end: StepEnd, signal: AbortSignal): Promise<void> {
    if (end.kind !== 'cut' || end.reason !== 'idle') this.#idleInARow = 0;
    switch (end.kind) {
      case 'stopped':
      case 'ended':
        return;
      case 'listed':
        this.#next = 'watch';
        this.#onState({ kind: 'synced' });
        return;
      case 'cut':
        this.#countRestart(end.reason);
        if (end.reason === 'idle') this.#noteIdle();
        return;
      case 'short':
        this.#countRestart('short-watch');
        return this.#waitAfter(undefined, signal);
      case 'failed':
        this.#countRestart(end.error.code);
        return this.#waitAfter(end.error, signal);
    }
  }

  #noteIdle(): void {
    this.#idleInARow += 1;
    // A watch from a version of the future (etcd was restored) is silent for ever: only a list tells.
    if (this.#idleInARow >= 2) this.#next = 'list';
    this.#log.warn({ inARow: this.#idleInARow }, 'Watch was idle, cut it');
  }

  async #waitAfter(error: KubeError | undefined, signal: AbortSignal): Promise<void> {
    const afterMs = this.#delay.next();
    if (error !== undefined) this.#noteFailure(error);
    // The first of a row is worth a look, the others are flow.
    const level = this.#delay.failures === 1 ? 'warn' : 'debug';
    this.#log[level]({ err: error, afterMs, next: this.#next }, 'List or watch failed, will retry');
    await this.#pause(afterMs, signal);
  }

  #noteFailure(error: KubeError): void {
    if (error.code === 'kind-missing') this.#type = undefined;
    if (this.#mustListAfter(error)) this.#next = 'list';
    this.#onState({ kind: 'failing', error });
  }

  #mustListAfter(error: KubeError): boolean {
    switch (error.code) {
      case 'too-many-requests':
      case 'connection-lost':
      case 'timeout':
      case 'unauthorized':
      case 'forbidden':
        return false;
      case 'unavailable':
      case 'server-error':
        return error.status !== 0 && this.#delay.failures >= resumptionsBeforeList;
      default:
        return true;
    }
  }

  async #list(signal: AbortSignal): Promise<StepEnd> {
    const type = await this.#lookUpType(signal);
    try {
      await this.#listIn(type, this.#context.settings.pageSize, signal);
    } catch (error) {
      if (!(error instanceof ExpiredPage)) throw error;
      this.#countRestart('page-expired');
      await this.#listIn(type, undefined, signal);
    }
    return { kind: 'listed' };
  }

  async #listIn(
    type: ResourceType,
    pageSize: number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { api, ingest } = this.#context;
    const listing = this.#store.startList();
    let pages = 0;
    try {
      for await (const page of listPages({ api, type, query: this.#query, pageSize }, signal)) {
        // What came after an abort is not stored: nobody asks for it any more.
        if (signal.aborted) throw signal.reason;
        listing.add(
          page.version,
          page.items.map((item) => ingest(item, this.#query.gvk)),
        );
        pages += 1;
      }
    } catch (error) {
      if (pages > 0 && error instanceof KubeError && error.code === 'gone') throw new ExpiredPage();
      throw error;
    }
    listing.finish();
    this.#noteActivity();
  }

  async #lookUpType(signal: AbortSignal): Promise<ResourceType> {
    const { discovery } = this.#context;
    const { gvk } = this.#query;
    const type = this.#type ?? discovery.resourceFor(gvk) ?? (await discovery.lookUp(gvk, signal));
    if (type === undefined) throw kindMissing(this.#query);
    this.#type = type;
    return type;
  }

  async #watch(cut: AbortController): Promise<StepEnd> {
    const { api, clock, settings } = this.#context;
    const fromVersion = this.#store.progress;
    invariant(fromVersion !== undefined && this.#type !== undefined, 'A watch follows a list');
    const timeoutSeconds = this.#watchTimeoutSeconds();
    const request = { api, type: this.#type, query: this.#query, fromVersion, timeoutSeconds };
    const stream = await openWatch(request, cut.signal);
    // The kind may have been forbidden for a while; the store goes on from where it was.
    this.#onState({ kind: 'synced' });
    const openedMs = clock.monotonicMs();
    const watchdog = new IdleWatchdog(clock, settings.idleTimeoutMs, () => cut.abort('idle'));
    const closeOnCut = () => stream.close();
    cut.signal.addEventListener('abort', closeOnCut, { once: true });
    try {
      const events = await this.#takeEvents(stream.chunks, watchdog, cut.signal);
      const isShort = events === 0 && clock.monotonicMs() - openedMs < settings.shortWatchMs;
      return { kind: isShort ? 'short' : 'ended' };
    } finally {
      watchdog.stop();
      cut.signal.removeEventListener('abort', closeOnCut);
      stream.close();
    }
  }

  /** Returns how many events there were. */
  async #takeEvents(
    chunks: AsyncIterable<string>,
    watchdog: IdleWatchdog,
    signal: AbortSignal,
  ): Promise<number> {
    const splitter = new LineSplitter();
    let events = 0;
    for await (const chunk of chunks) {
      watchdog.touch();
      for (const line of splitter.push(chunk)) {
        if (signal.aborted) return events;
        if (line === '') continue;
        this.#takeEvent(line);
        events += 1;
      }
    }
    return events;
  }

  #takeEvent(line: string): void {
    const { ingest } = this.#context;
    const { gvk } = this.#query;
    const event = readWatchLine(line);
    this.#noteActivity();
    switch (event.kind) {
      case 'changed':
        this.#store.changed(ingest(event.object, gvk));
        break;
      case 'deleted':
        this.#store.deleted(ingest(event.object, gvk));
        break;
      case 'bookmark':
        this.#store.bookmark(event.version);
        break;
      case 'unknown':
        this.#log.warn({ type: event.type }, 'Unknown type of watch event, skipped it');
    }
  }

  #watchTimeoutSeconds(): number {
    const { random, settings } = this.#context;
    return Math.floor(settings.watchTimeoutSeconds * (1 + random.fraction()));
  }

  #noteActivity(): void {
    this.#lastActivityMs = this.#context.clock.monotonicMs();
  }

  #countRestart(reason: string): void {
    this.#context.metrics.restarts.increment([gvkKey(this.#query.gvk), reason]);
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener('abort', end);
        this.#endPause = undefined;
        resolve();
      };
      const cancel = this.#context.clock.after(ms, end);
      signal.addEventListener('abort', end, { once: true });
      this.#endPause = end;
      if (signal.aborted) end();
    });
  }
}

/** A page came so late that the snapshot of the list is forgotten. */
class ExpiredPage extends Error {}

function endOfCut(signal: AbortSignal, cut: AbortController): StepEnd {
  if (signal.aborted) return { kind: 'stopped' };
  return { kind: 'cut', reason: cut.signal.reason === 'idle' ? 'idle' : 'schema-changed' };
}

function asKubeError(error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  return new KubeError('unexpected', 'The list or watch failed', { status: 0, cause: error });
}

function kindMissing({ gvk }: InformerQuery): KubeError {
  const message = `The server does not serve kind "${gvk.kind}" of "${gvk.group}/${gvk.version}"`;
  return new KubeError('kind-missing', message, { status: 404 });
}

function selectionOf({ namespace, labelSelector, fieldSelector }: InformerQuery) {
  return { namespace, labelSelector, fieldSelector };
}
