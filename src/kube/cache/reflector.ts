import type { Logger } from '../../telemetry/roles.ts';
import { failureFields } from '../../util/failure-fields.ts';
import { gvkKey } from '../../util/gvk.ts';
import { invariant } from '../../util/invariant.ts';
import { KubeError } from '../kube-error.ts';
import type { InformerQuery, InformerState, ResourceType } from '../roles.ts';
import { failureOf } from './failure-of.ts';
import { levelOf, mustListAfter, type Standing } from './failure-rules.ts';
import { listIntoStore } from './list-into-store.ts';
import { presentVersion } from './list-pages.ts';
import type { ObjectStore } from './object-store.ts';
import type { ReflectorContext } from './reflector-context.ts';
import { isAfter } from './resource-version.ts';
import { RetryPause } from './retry-pause.ts';
import { watchIntoStore } from './watch-into-store.ts';

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

/** A watch that ends before so much of its time is over has not ended as agreed. */
const agreedShare = 0.9;

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
  readonly #pause: RetryPause;
  #next: 'list' | 'watch' = 'list';
  #type: ResourceType | undefined;
  #wasMissing = false;
  /** The last watch ended before its time: the server may be another one, or the same with an older state. */
  #mustCompare = false;
  #cut: AbortController | undefined;
  #idleInARow = 0;
  #hasSeenUnknown = false;
  #lastActivityMs: number;

  constructor({ context, query, store, onState }: ReflectorOptions) {
    const { gvk, isPrivate, ...selection } = query;
    this.#context = context;
    this.#query = query;
    this.#store = store;
    this.#onState = onState;
    const told = isPrivate === true ? {} : selection;
    this.#log = context.logger.child({ kind: gvkKey(gvk), ...told });
    this.#pause = new RetryPause(context, query);
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
    this.#pause.stopListening();
  }

  /** Tries again at once, where it waits after a failure. */
  retryNow(): void {
    this.#pause.endNow();
  }

  /** Cuts whatever is under way and lists anew: objects of the same version may read differently now. */
  relist(): void {
    this.#next = 'list';
    this.#cut?.abort('schema-changed' satisfies CutReason);
    this.#pause.endNow();
  }

  async #step(signal: AbortSignal): Promise<StepEnd> {
    const cut = new AbortController();
    const onAbort = () => cut.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#cut = cut;
    try {
      const end = await (this.#next === 'list' ? this.#list(cut.signal) : this.#resume(cut));
      return cut.signal.aborted ? endOfCut(signal, cut) : end;
    } catch (error) {
      if (cut.signal.aborted) return endOfCut(signal, cut);
      return { kind: 'failed', error: failureOf(error, this.#query) };
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#cut = undefined;
    }
  }

  async #list(signal: AbortSignal): Promise<StepEnd> {
    const { api, ingest, settings } = this.#context;
    const type = await this.#lookUpType(signal);
    const how = await listIntoStore(
      { api, type, ingest, query: this.#query, store: this.#store, pageSize: settings.pageSize },
      signal,
    );
    if (how === 'whole') this.#countRestart('page-expired');
    this.#noteActivity();
    this.#mustCompare = false;
    return { kind: 'listed' };
  }

  async #lookUpType(signal: AbortSignal): Promise<ResourceType> {
    const { discovery } = this.#context;
    const { gvk } = this.#query;
    const known = this.#wasMissing ? undefined : (this.#type ?? discovery.resourceFor(gvk));
    this.#type = known ?? (await discovery.lookUp(gvk, signal));
    if (this.#type !== undefined) return this.#type;
    const message = `The server does not serve kind "${gvk.kind}" of "${gvk.group}/${gvk.version}"`;
    throw new KubeError('kind-missing', message, { status: 404 });
  }

  /** Continues from the last version, unless the server has gone back behind it. */
  async #resume(cut: AbortController): Promise<StepEnd> {
    if (this.#mustCompare && (await this.#hasGoneBack(cut.signal))) {
      this.#log.warn({}, 'The server is older than what it said before');
      this.#context.onWentBack();
      return this.#list(cut.signal);
    }
    this.#mustCompare = false;
    return this.#watch(cut);
  }

  /**
   * If etcd was restored from a backup while the watch was broken or silent, a watch from a version of the future is accepted, and silent
   * until the server has come to that version.
   */
  async #hasGoneBack(signal: AbortSignal): Promise<boolean> {
    const { progress } = this.#store;
    invariant(progress !== undefined && this.#type !== undefined, 'A watch follows a list');
    const { api } = this.#context;
    const version = await presentVersion({ api, type: this.#type, query: this.#query }, signal);
    return isAfter(progress, version);
  }

  async #watch(cut: AbortController): Promise<StepEnd> {
    const { api, clock, ingest, settings } = this.#context;
    const fromVersion = this.#store.progress;
    invariant(fromVersion !== undefined && this.#type !== undefined, 'A watch follows a list');
    const timeoutSeconds = this.#watchTimeoutSeconds();
    let openedMs = 0;
    const events = await watchIntoStore(
      {
        api,
        clock,
        ingest,
        fromVersion,
        timeoutSeconds,
        type: this.#type,
        query: this.#query,
        store: this.#store,
        idleTimeoutMs: settings.idleTimeoutMs,
        onOpen: () => {
          openedMs = clock.monotonicMs();
          this.#noteOpen();
        },
        onIdle: () => cut.abort('idle' satisfies CutReason),
        onEvent: () => this.#noteEvent(),
        onUnknown: (type) => this.#noteUnknown(type),
      },
      cut.signal,
    );
    const openForMs = clock.monotonicMs() - openedMs;
    this.#mustCompare = openForMs < timeoutSeconds * 1_000 * agreedShare;
    return { kind: events === 0 && openForMs < settings.shortWatchMs ? 'short' : 'ended' };
  }

  #noteOpen(): void {
    // However it ends, but for the end that was agreed.
    this.#mustCompare = true;
    // The kind may have been forbidden for a while; the store continues from where it was.
    this.#onState({ kind: 'synced' });
  }

  #noteEvent(): void {
    this.#noteActivity();
    // A watch that delivers is a good one: when it is cut, the next try need not wait for earlier troubles.
    this.#pause.reset();
  }

  async #goOn(end: StepEnd, signal: AbortSignal): Promise<void> {
    if (end.kind !== 'cut' || end.reason !== 'idle') this.#idleInARow = 0;
    switch (end.kind) {
      case 'stopped':
      case 'ended':
        return;
      case 'listed':
        this.#next = 'watch';
        this.#wasMissing = false;
        this.#pause.stopListening();
        this.#onState({ kind: 'synced' });
        return;
      case 'cut':
        this.#countRestart(end.reason);
        if (end.reason === 'idle') this.#noteIdle();
        return;
      case 'short':
        this.#countRestart('short-watch');
        return this.#wait(undefined, signal);
      case 'failed':
        this.#countRestart(end.error.code);
        if (end.error.isSilence) this.#context.suspectOutage();
        return this.#wait(end.error, signal);
    }
  }

  #noteIdle(): void {
    this.#idleInARow += 1;
    this.#context.suspectOutage();
    const level = this.#idleInARow === 1 ? 'warn' : 'debug';
    this.#log[level]({ inARow: this.#idleInARow }, 'Watch was idle, cut it');
  }

  #noteUnknown(type: unknown): void {
    const level = this.#hasSeenUnknown ? 'debug' : 'warn';
    this.#hasSeenUnknown = true;
    this.#log[level]({ type }, 'Watch event of unknown type, skipped it');
  }

  /** Waits after a failure, or after a watch that ended at once. */
  async #wait(error: KubeError | undefined, signal: AbortSignal): Promise<void> {
    const afterMs = this.#pause.lengthAfter(error);
    if (error !== undefined) this.#noteFailure(error);
    const reason = error === undefined ? {} : failureFields(error);
    const fields = { ...reason, afterMs: Math.round(afterMs), next: this.#next };
    this.#log[levelOf(error, this.#standing)](fields, 'List or watch failed, will retry');
    await this.#pause.rest(afterMs, error, signal);
  }

  #noteFailure(error: KubeError): void {
    if (error.code === 'kind-missing') {
      this.#wasMissing = true;
      // It may return under another plural.
      this.#context.discovery.forget(this.#query.gvk);
      this.#pause.listenForKind();
    }
    if (mustListAfter(error, this.#pause.failures)) this.#next = 'list';
    this.#onState({ kind: 'failing', error });
  }

  get #standing(): Standing {
    const hasListed = this.#store.progress !== undefined;
    return { failures: this.#pause.failures, hasListed };
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
}

function endOfCut(signal: AbortSignal, cut: AbortController): StepEnd {
  if (signal.aborted) return { kind: 'stopped' };
  return { kind: 'cut', reason: cut.signal.reason };
}
