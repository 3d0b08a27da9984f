import type { Logger } from '../../telemetry/roles.ts';
import { failureFields } from '../../util/failure-fields.ts';
import { gvkKey } from '../../util/gvk.ts';
import { invariant } from '../../util/invariant.ts';
import { KubeError } from '../kube-error.ts';
import type { InformerQuery, InformerState, ResourceType } from '../roles.ts';
import { Contact, type WatchEnd } from './contact.ts';
import { failureOf } from './failure-of.ts';
import { isWorthTelling, levelOf, mustListAfter, type Standing } from './failure-rules.ts';
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
  /** Told when {@link Reflector.isOutdated} changes. */
  readonly onOutdated: () => void;
}

/** Why a list or a watch was cut by ourselves. */
type CutReason = 'idle' | 'schema-changed' | 'restored' | 'outage' | 'took-over';

/** How a list or a watch came to its end. */
type StepEnd =
  | { readonly kind: 'listed' }
  /** The server ended the watch, as agreed. */
  | { readonly kind: 'ended' }
  /** The server ended the watch at once, without an event. */
  | { readonly kind: 'short' }
  | { readonly kind: 'cut'; readonly reason: CutReason }
  /** `isAttempt`: it was asked for; otherwise it had begun. */
  | { readonly kind: 'failed'; readonly error: KubeError; readonly isAttempt: boolean }
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
  readonly #contact: Contact;
  #next: 'list' | 'watch' = 'list';
  #type: ResourceType | undefined;
  #wasMissing = false;
  /** What is under way was answered. */
  #wasOpened = false;
  #cut: AbortController | undefined;
  #idleInARow = 0;
  #hasSeenUnknown = false;
  #lastActivityMs: number;

  constructor({ context, query, store, onState, onOutdated }: ReflectorOptions) {
    const { gvk, isPrivate, ...selection } = query;
    this.#context = context;
    this.#query = query;
    this.#store = store;
    this.#onState = onState;
    const told = isPrivate === true ? {} : selection;
    this.#log = context.logger.child({ kind: gvkKey(gvk), ...told });
    this.#pause = new RetryPause(context, query);
    const { reachability } = context;
    const onAnswer = () => this.#noteAnswer();
    this.#contact = new Contact({ reachability, onOutdated, onAnswer });
    this.#lastActivityMs = context.clock.monotonicMs();
  }

  /** When the last list, event or bookmark came; before the first, when the informer was made. Monotonic. */
  get lastActivityMs(): number {
    return this.#lastActivityMs;
  }

  /** The server was away and has not been listed since: what the store holds may be of a history that is no more. */
  get isOutdated(): boolean {
    return this.#contact.doubt.isOutdated;
  }

  /** Another informer of the cluster has found that the server does not answer. */
  noteOutage(): void {
    this.#contact.noteOutage();
  }

  /** Ends when the signal aborts; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const end = await this.#step(signal);
      await this.#goOn(end, signal);
    }
    this.#pause.stopListening();
    this.#contact.end();
  }

  /** Tries again at once, where it waits after a failure. */
  retryNow(): void {
    this.#pause.endNow();
  }

  /** Cuts whatever is under way and lists anew: objects of the same version may read differently now, or were never there. */
  relist(reason: 'schema-changed' | 'restored' | 'took-over'): void {
    this.#next = 'list';
    if (reason !== 'schema-changed') this.#contact.doubt.raise('outage');
    this.#cut?.abort(reason);
    this.#pause.endNow();
  }

  /** From now on only a list counts that is asked for from now on. What has not begun to list need not do so twice. */
  distrust(): void {
    if (this.#store.progress !== undefined || this.#cut !== undefined) this.relist('took-over');
  }

  async #step(signal: AbortSignal): Promise<StepEnd> {
    const cut = new AbortController();
    this.#wasOpened = false;
    const onAbort = () => cut.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#cut = cut;
    try {
      const end = this.#next === 'list' ? await this.#list(cut.signal) : await this.#resume(cut);
      return cut.signal.aborted ? endOfCut(signal, cut) : end;
    } catch (error) {
      if (cut.signal.aborted) return endOfCut(signal, cut);
      const failure = failureOf(error, this.#query);
      return { kind: 'failed', error: failure, isAttempt: !this.#wasOpened };
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#cut = undefined;
    }
  }

  async #list(signal: AbortSignal): Promise<StepEnd> {
    const { api, ingest, settings } = this.#context;
    const { doubt } = this.#contact;
    const { mark } = doubt;
    const type = await this.#lookUpType(signal);
    const how = await listIntoStore(
      { api, type, ingest, query: this.#query, store: this.#store, pageSize: settings.pageSize },
      signal,
    );
    if (how === 'whole') this.#countRestart('page-expired');
    this.#contact.answered();
    this.#noteActivity();
    doubt.listed(mark);
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

  /** Goes on from the last version, unless nobody can say what the server has made of it. */
  async #resume(cut: AbortController): Promise<StepEnd> {
    switch (this.#contact.doubt.level) {
      case 'none':
        return this.#watch(cut);
      case 'outage':
        this.#countRestart('outage');
        return this.#list(cut.signal);
      case 'cut':
        return this.#resumeAfterCut(cut);
    }
  }

  async #resumeAfterCut(cut: AbortController): Promise<StepEnd> {
    if (!(await this.#hasGoneBack(cut.signal))) {
      this.#contact.doubt.notGoneBack();
      return this.#resume(cut);
    }
    this.#log.warn({}, 'The server is older than what it has told, will list');
    this.#context.reachability.wentBack();
    return { kind: 'cut', reason: 'restored' };
  }

  /**
   * A connection that broke is opened again so soon that nobody has seen the server away; if etcd was restored from a backup all
   * the same, a watch from a version of the future is accepted, and silent until the server has come to that version.
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
    let how: WatchEnd = 'early';
    try {
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
          onIdle: () => cut.abort('idle'),
          onEvent: () => this.#noteEvent(),
          onUnknown: (type) => this.#noteUnknown(type),
        },
        cut.signal,
      );
      const openForMs = clock.monotonicMs() - openedMs;
      if (openForMs >= timeoutSeconds * 1_000 * agreedShare) how = 'agreed';
      return { kind: events === 0 && openForMs < settings.shortWatchMs ? 'short' : 'ended' };
    } catch (error) {
      if (error instanceof KubeError && error.isSilence) how = 'broken';
      throw error;
    } finally {
      if (cut.signal.aborted) how = cut.signal.reason === 'idle' ? 'early' : 'agreed';
      this.#contact.watchEnded(how);
    }
  }

  #noteOpen(): void {
    this.#wasOpened = true;
    this.#contact.watchOpened();
    // Others found the server away while this was being opened.
    if (this.isOutdated) this.#cut?.abort('outage' satisfies CutReason);
    // The kind may have been forbidden for a while; the store goes on from where it was.
    else this.#onState({ kind: 'synced' });
  }

  #noteEvent(): void {
    this.#noteActivity();
    this.#contact.doubt.noteEvent();
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
        // A refusal is an answer too; how long the server was away says nothing about how long it will refuse.
        if (end.error.status !== 0) this.#contact.answered();
        else this.#contact.broke({ isAttempt: end.isAttempt && end.error.isSilence });
        return this.#wait(end.error, signal);
    }
  }

  #noteIdle(): void {
    this.#idleInARow += 1;
    // A watch from a version of the future (etcd was restored) is silent for ever: only a list tells.
    if (this.#idleInARow >= 2) this.#next = 'list';
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
    if (isWorthTelling(error, this.#standing)) this.#onState({ kind: 'failing', error });
  }

  get #standing(): Standing {
    const hasListed = this.#store.progress !== undefined;
    return { failures: this.#pause.failures, isOutdated: this.isOutdated, hasListed };
  }

  #noteAnswer(): void {
    this.#pause.reset();
    this.#log.debug({}, 'The server answers again');
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
