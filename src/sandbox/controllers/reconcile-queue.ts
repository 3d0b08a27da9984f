import type { Clock } from '#util/clock.ts';
import { StatusError } from '../status/status-error.ts';

/** Delay of a reconcile that failed because an object exists already. */
const retryMs = 1_000;

interface ReconcileQueueOptions {
  readonly clock: Clock;
  /** Moves one object towards its desired state. Runs again after each change of what it depends on. */
  readonly reconcile: (key: string) => void;
  readonly onInternalError: (error: unknown) => void;
}

/** Queues keys for a reconciler. A key is reconciled once for any number of changes, after the write that caused them. */
export class ReconcileQueue {
  readonly #options: ReconcileQueueOptions;
  readonly #keys = new Set<string>();
  /** The time of the delayed reconcile of each key, and how to cancel it. */
  readonly #delayed = new Map<string, { readonly atMs: number; readonly cancel: () => void }>();
  readonly #idleResolvers: (() => void)[] = [];
  #cancelRun: (() => void) | undefined;

  constructor(options: ReconcileQueueOptions) {
    this.#options = options;
  }

  /** Queues a key. */
  add(key: string): void {
    this.#keys.add(key);
    this.#cancelRun ??= this.#options.clock.after(0, () => this.#run());
  }

  /** Queues a key after a time; the earliest time wins. A reconciler that runs early queues its key again. */
  addAfter(key: string, ms: number): void {
    const { clock } = this.#options;
    const atMs = clock.monotonicMs() + ms;
    const before = this.#delayed.get(key);
    if (before !== undefined && before.atMs <= atMs) return;
    before?.cancel();
    const cancel = clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { atMs, cancel });
  }

  /** True when no key is queued to run now. */
  get isIdle(): boolean {
    return this.#keys.size === 0;
  }

  /** Resolves when no key is queued to run now. */
  untilIdle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#idleResolvers.push(resolve));
  }

  stop(): void {
    this.#keys.clear();
    this.#cancelRun?.();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#resolveIdle();
  }

  #run(): void {
    this.#cancelRun = undefined;
    const keys = [...this.#keys];
    this.#keys.clear();
    for (const key of keys) this.#reconcile(key);
    if (this.isIdle) this.#resolveIdle();
  }

  #reconcile(key: string): void {
    try {
      this.#options.reconcile(key);
    } catch (error) {
      // An object of that name is still being deleted, for example.
      if (error instanceof StatusError && error.reason === 'AlreadyExists')
        this.addAfter(key, retryMs);
      else this.#options.onInternalError(error);
    }
  }

  #resolveIdle(): void {
    for (const resolve of this.#idleResolvers.splice(0)) resolve();
  }
}
