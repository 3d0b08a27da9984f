import type { Logger } from '#telemetry/roles.ts';
import { type Gvk, gvkKey } from '#util/gvk.ts';
import { errorLogFields, invariant } from '#util/homeostat-error.ts';
import { isNewer } from '#util/resource-version.ts';
import { KubeError } from '../kube-error.ts';
import type { InformerQuery, InformerState, ResourceType } from '../roles.ts';
import { type FailureState, failureOf, levelOf, mustListAfter } from './failure-rules.ts';
import { currentVersion, listIntoStore } from './list-pages.ts';
import type { ObjectStore } from './object-store.ts';
import type { ReflectorContext } from './reflector-context.ts';
import { RetryPause } from './retry-pause.ts';

import { watchIntoStore } from './watch-into-store.ts';

interface ReflectorOptions {
  readonly context: ReflectorContext;
  readonly query: InformerQuery;
  readonly store: ObjectStore;
  /** Called on every state, even if it is unchanged. */
  readonly onState: (state: InformerState) => void;
}

/** Why the reflector itself aborted a list or watch. */
type CutReason = 'idle' | 'schema-changed';

/** Result of a list or watch. */
type StepEnd =
  | { readonly kind: 'listed' }
  /** The watch ended at its timeout. */
  | { readonly kind: 'ended' }
  /** The server ended the watch at once, without an event or not for the first time. */
  | { readonly kind: 'short' }
  | { readonly kind: 'cut'; readonly reason: CutReason }
  | { readonly kind: 'failed'; readonly error: KubeError }
  | { readonly kind: 'stopped' };

/** A watch that ends before this share of its timeout has ended prematurely. */
const regularEndShare = 0.98;

/**
 * Fills a store: lists, then watches from the version of the list. Retries after every failure. Lists again only when
 * the watch cannot be resumed.
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
  /** What must be compared with the server before the watch is resumed. */
  #toCompare: 'nothing' | 'version' | 'objects' = 'nothing';
  #cut: AbortController | undefined;
  #idleInARow = 0;
  /** Watches that were opened since one was open for a while. */
  #openedInARow = 0;
  #hasSeenUnknown = false;
  #lastActivityMs: number;
  #pageSize: number;

  constructor({ context, query, store, onState }: ReflectorOptions) {
    const { gvk, isPrivate, ...selection } = query;
    this.#context = context;
    this.#query = query;
    this.#store = store;
    this.#onState = onState;
    const selectors = isPrivate === true ? {} : selection;
    this.#log = context.logger.child({ kind: gvkKey(gvk), ...selectors });
    this.#pause = new RetryPause(context, query);
    this.#pageSize = context.settings.pageSize;
    this.#lastActivityMs = context.clock.monotonicMs();
  }

  /** Monotonic time of the last list, event or bookmark, initially of the creation. */
  get lastActivityMs(): number {
    return this.#lastActivityMs;
  }

  /** Resolves when the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const end = await this.#step(signal);
      await this.#continueAfter(end, signal);
    }
    this.#pause.stopListening();
  }

  /** Ends a pause after a failure. */
  retryNow(): void {
    this.#pause.cancel();
  }

  /** Aborts the current list or watch and lists again: a schema change can alter objects of the same version. */
  relist(): void {
    this.#next = 'list';
    this.#cut?.abort('schema-changed' satisfies CutReason);
    this.#pause.cancel();
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
    const { api, decode, budget } = this.#context;
    const type = await this.#lookUpType(signal);
    const how = await listIntoStore(
      {
        api,
        type,
        decode,
        query: this.#query,
        store: this.#store,
        pageSize: this.#pageSize,
        isForeign: budget !== undefined,
      },
      signal,
    );
    if (how === 'whole') this.#countRestart('page-expired');
    this.#noteActivity();
    this.#toCompare = 'nothing';
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

  /** Resumes from the last version, unless the server may have an older state. */
  async #resume(cut: AbortController): Promise<StepEnd> {
    if (await this.#mustList(cut.signal)) return this.#list(cut.signal);
    this.#toCompare = 'nothing';
    return this.#watch(cut);
  }

  async #mustList(signal: AbortSignal): Promise<boolean> {
    switch (this.#toCompare) {
      case 'nothing':
        return false;
      case 'version':
        return this.#isOnePage || this.#hasRolledBack(signal);
      case 'objects':
        return true;
    }
  }

  /** A list costs one request, like a comparison. */
  get #isOnePage(): boolean {
    return this.#store.size < this.#pageSize;
  }

  /**
   * After a restore of etcd, the server accepts a watch from a future version and sends nothing until it reaches that
   * version. If the server has reached it already, only a list shows what was lost.
   */
  async #hasRolledBack(signal: AbortSignal): Promise<boolean> {
    const { progress } = this.#store;
    invariant(progress !== undefined && this.#type !== undefined, 'A watch follows a list');
    const { api } = this.#context;
    const version = await currentVersion({ api, type: this.#type, query: this.#query }, signal);
    return isNewer(progress, version);
  }

  async #watch(cut: AbortController): Promise<StepEnd> {
    const { api, clock, decode, settings } = this.#context;
    const fromVersion = this.#store.progress;
    invariant(fromVersion !== undefined && this.#type !== undefined, 'A watch follows a list');
    const timeoutSeconds = this.#watchTimeoutSeconds();
    let openedMs = 0;
    const events = await watchIntoStore(
      {
        api,
        clock,
        decode,
        fromVersion,
        timeoutSeconds,
        type: this.#type,
        query: this.#query,
        store: this.#store,
        idleTimeoutMs: settings.idleTimeoutMs,
        maxLineLength: settings.maxLineLength,
        jsonLimits: settings.jsonLimits,
        onHeld: settings.onHeld,
        onOpen: () => {
          openedMs = clock.monotonicMs();
          this.#noteOpen();
        },
        onIdle: () => cut.abort('idle' satisfies CutReason),
        onEvent: () => this.#noteEvent(clock.monotonicMs() - openedMs),
        onUnknown: (type) => this.#noteUnknown(type),
      },
      cut.signal,
    );
    const openForMs = clock.monotonicMs() - openedMs;
    const isPremature = openForMs < timeoutSeconds * 1_000 * regularEndShare;
    if (!isPremature) this.#toCompare = 'nothing';
    // An API server ends the watches of a kind a second after its CRD has changed.
    else if (mayBeCustom(this.#query.gvk)) this.#toCompare = 'objects';
    const isShort = openForMs < settings.shortWatchMs;
    if (!isShort) this.#openedInARow = 0;
    // After an event there may be a reason, such as a changed CRD, but not again and again.
    return { kind: isShort && (events === 0 || this.#openedInARow > 1) ? 'short' : 'ended' };
  }

  #noteOpen(): void {
    this.#openedInARow += 1;
    // Until it ends: after a broken connection, the server may have been replaced or restored from a backup.
    this.#toCompare = 'version';
    // The kind may have been forbidden meanwhile; the store continues from its version.
    this.#onState({ kind: 'synced' });
  }

  #noteEvent(openForMs: number): void {
    this.#noteActivity();
    if (openForMs >= this.#context.settings.shortWatchMs) this.#openedInARow = 0;
    // A watch that delivers events is healthy, unless each of them ends at once: earlier failures must not delay its next retry.
    if (this.#openedInARow <= 1) this.#pause.reset();
  }

  async #continueAfter(end: StepEnd, signal: AbortSignal): Promise<void> {
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
        if (end.error.isUnreachable) this.#context.suspectOutage();
        return this.#wait(end.error, signal);
    }
  }

  #noteIdle(): void {
    this.#idleInARow += 1;
    this.#context.suspectOutage();
    const level = this.#idleInARow === 1 ? 'warn' : 'debug';
    this.#log[level]({ inARow: this.#idleInARow }, 'Watch was idle, reconnecting');
  }

  #noteUnknown(type: unknown): void {
    const level = this.#hasSeenUnknown ? 'debug' : 'warn';
    this.#hasSeenUnknown = true;
    this.#log[level]({ type }, 'Skipped a watch event of unknown type');
  }

  /** Waits after a failure or a short watch. */
  async #wait(error: KubeError | undefined, signal: AbortSignal): Promise<void> {
    const afterMs = this.#pause.lengthAfter(error);
    if (error !== undefined) this.#noteFailure(error);
    const reason = error === undefined ? {} : errorLogFields(error);
    const fields = { ...reason, afterMs: Math.round(afterMs), next: this.#next };
    this.#log[levelOf(error, this.#failureState)](fields, 'List or watch failed, will retry');
    await this.#pause.wait(afterMs, error, signal);
  }

  #noteFailure(error: KubeError): void {
    if (error.code === 'kind-missing') {
      this.#wasMissing = true;
      // The kind may return with another plural.
      this.#context.discovery.forget(this.#query.gvk);
      this.#pause.listenForKind();
    }
    // Pages of large objects are larger than what is read at once.
    if (error.code === 'too-large') this.#pageSize = Math.max(1, Math.floor(this.#pageSize / 4));
    if (mustListAfter(error, this.#pause.failures)) this.#next = 'list';
    this.#onState({ kind: 'failing', error });
  }

  get #failureState(): FailureState {
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

/** The group of a CRD contains a dot. */
function mayBeCustom({ group }: Gvk): boolean {
  return group.includes('.');
}

function endOfCut(signal: AbortSignal, cut: AbortController): StepEnd {
  if (signal.aborted) return { kind: 'stopped' };
  return { kind: 'cut', reason: cut.signal.reason };
}
