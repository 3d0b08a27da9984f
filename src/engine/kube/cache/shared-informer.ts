import { gvkKey } from '#util/gvk.ts';
import type { InformerState } from '../roles.ts';
import { ObjectStore } from './object-store.ts';
import type { ResolvedQuery } from './query.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorContext } from './reflector-context.ts';

/** An informer and its store, shared by several handles. */
export class SharedInformer {
  readonly resolved: ResolvedQuery;
  readonly store: ObjectStore;
  readonly #context: ReflectorContext;
  readonly #reflector: Reflector;
  readonly #stop = new AbortController();
  readonly #stateListeners = new Set<(state: InformerState) => void>();
  #state: InformerState = { kind: 'waiting' };
  readonly #stopMeasuring: (() => void) | undefined;
  #wasSynced = false;
  #reportedSize = 0;

  constructor(resolved: ResolvedQuery, context: ReflectorContext) {
    const { query, selects, retainFields } = resolved;
    this.resolved = resolved;
    this.#context = context;
    const onFault = (error: unknown) => {
      context.logger.error(
        { err: error, kind: gvkKey(query.gvk) },
        'A cache event listener threw an error',
      );
    };
    const onRollback = () => {
      context.logger.warn(
        { kind: gvkKey(query.gvk) },
        'The API server returned an older state than before: etcd was probably restored from a backup',
      );
      context.onRollback();
    };
    this.store = new ObjectStore({
      selects,
      onFault,
      onRollback,
      ...(retainFields && { retainFields }),
    });
    this.store.subscribe(() => this.#reportSize(this.store.size));
    this.#stopMeasuring = context.budget?.follow(this.store);
    const onState = (state: InformerState) => this.#setState(state);
    this.#reflector = new Reflector({ context, query, store: this.store, onState });
  }

  get state(): InformerState {
    return this.#state;
  }

  get lastActivityMs(): number {
    return this.#reflector.lastActivityMs;
  }

  /** Aborts when the informer is stopped. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Lists and watches until {@link stop}. */
  async run(): Promise<void> {
    await this.#reflector.run(this.#stop.signal);
    this.#reportSize(0);
    this.#stopMeasuring?.();
  }

  stop(): void {
    this.#stop.abort();
  }

  retryNow(): void {
    this.#reflector.retryNow();
  }

  relist(): void {
    this.#reflector.relist();
  }

  onState(listener: (state: InformerState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  #setState(state: InformerState): void {
    if (this.#stop.signal.aborted) return;
    if (state.kind === 'synced') this.#wasSynced = true;
    // A synced informer keeps serving during connection failures, but not without the kind or the right to read it.
    if (state.kind === 'failing' && this.#wasSynced && !isLost(state)) return;
    const hasChanged = !isSameState(this.#state, state);
    this.#state = state;
    // A failing informer reports its state after every attempt: notify only on changes.
    if (!hasChanged) return;
    for (const listener of [...this.#stateListeners]) this.#notify(listener, state);
  }

  #notify(listener: (state: InformerState) => void, state: InformerState): void {
    try {
      listener(state);
    } catch (error) {
      const kind = gvkKey(this.resolved.query.gvk);
      this.#context.logger.error({ err: error, kind }, 'An informer state listener threw an error');
    }
  }

  #reportSize(size: number): void {
    if (size === this.#reportedSize) return;
    const kind = gvkKey(this.resolved.query.gvk);
    this.#context.metrics.objects.add(size - this.#reportedSize, [kind]);
    this.#reportedSize = size;
  }
}

function isSameState(a: InformerState, b: InformerState): boolean {
  if (a.kind !== 'failing' || b.kind !== 'failing') return a.kind === b.kind;
  return a.error.code === b.error.code && a.error.message === b.error.message;
}

function isLost({ error }: Extract<InformerState, { kind: 'failing' }>): boolean {
  return error.code === 'kind-missing' || error.code === 'forbidden';
}
