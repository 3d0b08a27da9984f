import type { Logger } from '../../telemetry/roles.ts';
import { failureFields } from '../../util/failure-fields.ts';
import { gvkKey } from '../../util/gvk.ts';
import { invariant } from '../../util/invariant.ts';
import { KubeError } from '../kube-error.ts';
import type { InformerQuery, InformerState, ResourceType } from '../roles.ts';
import { listIntoStore } from './list-into-store.ts';
import { presentVersion } from './list-pages.ts';
import type { ObjectStore } from './object-store.ts';
import type { ReflectorContext } from './reflector-context.ts';
import { isAfter } from './resource-version.ts';
import { RetryDelay } from './retry-delay.ts';
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

/** So many failed resumptions in a row, though the server answers, and the list is taken anew: it may know why. */
const resumptionsBeforeList = 5;

/** So often in a row a list or watch is tried soon again though a right is missing. */
const quickTriesWhenDenied = 2;

/** However long a server asks us to stay away: being deaf for a day would be worse. */
const longestAskedDelayMs = 300_000;

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
  #wasMissing = false;
  #isCutOff = false;
  /** The server was away since it told something, and nobody has asked it since what it knows. */
  #mayHaveGoneBack = false;
  #cut: AbortController | undefined;
  #endPause: (() => void) | undefined;
  /** Ends the waiting for news of a kind that is missing. */
  #endNews: (() => void) | undefined;
  #idleInARow = 0;
  #hasSeenUnknown = false;
  #lastActivityMs: number;

  constructor({ context, query, store, onState }: ReflectorOptions) {
    const { gvk, ...selection } = query;
    this.#context = context;
    this.#query = query;
    this.#store = store;
    this.#onState = onState;
    this.#log = context.logger.child({ kind: gvkKey(gvk), ...selection });
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
    this.#stopWaitingForKind();
    this.#context.reachability.left(this);
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
      const end = this.#next === 'list' ? await this.#list(cut.signal) : await this.#resume(cut);
      return cut.signal.aborted ? endOfCut(signal, cut) : end;
    } catch (error) {
      if (cut.signal.aborted) return endOfCut(signal, cut);
      return { kind: 'failed', error: asKubeError(error) };
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
    this.#mayHaveGoneBack = false;
    this.#noteAnswer();
    this.#noteActivity();
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

  async #resume(cut: AbortController): Promise<StepEnd> {
    if (!this.#mayHaveGoneBack) return this.#watch(cut);
    if (!(await this.#hasGoneBack(cut.signal))) {
      this.#mayHaveGoneBack = false;
      return this.#watch(cut);
    }
    this.#countRestart('restored');
    this.#log.warn({}, 'The server is older than what it has told, will list');
    return this.#list(cut.signal);
  }

  /**
   * While we were cut off, etcd may have been restored from a backup. A watch from a version of the future is accepted, and
   * silent until the server has come to that version.
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
    let openedMs = 0;
    const events = await watchIntoStore(
      {
        api,
        clock,
        ingest,
        fromVersion,
        type: this.#type,
        query: this.#query,
        store: this.#store,
        timeoutSeconds: this.#watchTimeoutSeconds(),
        idleTimeoutMs: settings.idleTimeoutMs,
        onOpen: () => {
          openedMs = clock.monotonicMs();
          this.#noteAnswer();
          // The kind may have been forbidden for a while; the store goes on from where it was.
          this.#onState({ kind: 'synced' });
        },
        onIdle: () => cut.abort('idle'),
        onEvent: () => {
          this.#noteActivity();
          // A watch that delivers is a good one: when it is cut, the next try need not wait for earlier troubles.
          this.#delay.reset();
        },
        onUnknown: (type) => this.#noteUnknown(type),
      },
      cut.signal,
    );
    const isShort = events === 0 && clock.monotonicMs() - openedMs < settings.shortWatchMs;
    return { kind: isShort ? 'short' : 'ended' };
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
        this.#stopWaitingForKind();
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
    const level = this.#idleInARow === 1 ? 'warn' : 'debug';
    this.#log[level]({ inARow: this.#idleInARow }, 'Watch was idle, cut it');
  }

  #noteUnknown(type: unknown): void {
    const level = this.#hasSeenUnknown ? 'debug' : 'warn';
    this.#hasSeenUnknown = true;
    this.#log[level]({ type }, 'Watch event of unknown type, skipped it');
  }

  async #waitAfter(error: KubeError | undefined, signal: AbortSignal): Promise<void> {
    const isUnreachable = error?.status === 0;
    // A refusal is an answer too; how long the server was away says nothing about how long it will refuse.
    if (isUnreachable) this.#noteNoAnswer();
    else this.#noteAnswer();
    const { unreachableMaxDelayMs } = this.#context.settings;
    const delayMs = Math.min(this.#delay.next(), isUnreachable ? unreachableMaxDelayMs : Infinity);
    const askedMs = Math.min((error?.retryAfterSeconds ?? 0) * 1_000, longestAskedDelayMs);
    // A server that has just started may not know its roles yet.
    const isDenied = error?.right !== undefined && this.#delay.failures > quickTriesWhenDenied;
    const deniedMs = isDenied ? this.#context.settings.deniedRetryMs : 0;
    const afterMs = Math.max(delayMs, askedMs, deniedMs);
    if (error !== undefined) this.#noteFailure(error);
    // The first of a row is worth a look, the others are flow.
    const level = this.#delay.failures === 1 ? 'warn' : 'debug';
    const reason = error === undefined ? {} : failureFields(error);
    this.#log[level]({ ...reason, afterMs, next: this.#next }, 'List or watch failed, will retry');
    const unsubscribe = this.#whenGranted(error);
    await this.#pause(afterMs, signal);
    unsubscribe();
  }

  /** Has a right that is missing end the pause when it comes. */
  #whenGranted(error: KubeError | undefined): () => void {
    if (error?.right === undefined) return () => {};
    // A role may allow single objects by name: a watch of one asks in its name.
    const [, name] = this.#query.fieldSelector?.split('=', 2) ?? [];
    const right = name === undefined ? error.right : { ...error.right, name };
    return this.#context.rights.onGranted(right, () => this.#endPause?.());
  }

  #waitForKind(): void {
    this.#wasMissing = true;
    this.#endNews ??= this.#context.arrivals.onNews(this.#query.gvk, () => {
      this.#delay.reset();
      this.#endPause?.();
    });
  }

  #stopWaitingForKind(): void {
    this.#endNews?.();
    this.#endNews = undefined;
  }

  #noteFailure(error: KubeError): void {
    if (error.code === 'kind-missing') this.#waitForKind();
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

  #noteNoAnswer(): void {
    this.#isCutOff = true;
    this.#mayHaveGoneBack = true;
    this.#context.reachability.lost(this);
  }

  #noteAnswer(): void {
    if (!this.#isCutOff) return;
    this.#isCutOff = false;
    this.#delay.reset();
    this.#log.info({}, 'The server answers again');
    this.#context.reachability.found(this);
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

function endOfCut(signal: AbortSignal, cut: AbortController): StepEnd {
  if (signal.aborted) return { kind: 'stopped' };
  return { kind: 'cut', reason: cut.signal.reason === 'idle' ? 'idle' : 'schema-changed' };
}

function asKubeError(error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  return new KubeError('unexpected', 'The list or watch failed', { status: 0, cause: error });
}
