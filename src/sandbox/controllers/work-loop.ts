import type { Clock } from '../../util/clock.ts';

export interface WorkLoopOptions {
  readonly clock: Clock;
  /** Brings one object to where it should be. Runs again after each change of what it depends on. */
  readonly reconcile: (key: string) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Runs a reconciler for keys, each once for any number of changes, after the write that caused them. */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #keys = new Set<string>();
  /** When a key is looked at again, and how to take that back. */
  readonly #later = new Map<string, { readonly atMs: number; readonly cancel: () => void }>();
  readonly #idle: (() => void)[] = [];
  #cancelRun: (() => void) | undefined;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
  }

  /** Reconciles a key soon. */
  add(key: string): void {
    this.#keys.add(key);
    this.#cancelRun ??= this.#options.clock.after(0, () => this.#run());
  }

  /** Reconciles a key after a time, or sooner where it was asked for that: whoever is early asks again. */
  addAfter(key: string, ms: number): void {
    const { clock } = this.#options;
    const atMs = clock.monotonicMs() + ms;
    const before = this.#later.get(key);
    if (before !== undefined && before.atMs <= atMs) return;
    before?.cancel();
    const cancel = clock.after(ms, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { atMs, cancel });
  }

  /** Has it nothing to do right now? */
  get isIdle(): boolean {
    return this.#keys.size === 0;
  }

  /** Resolves when nothing is to be done right now. */
  untilIdle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  stop(): void {
    this.#keys.clear();
    this.#cancelRun?.();
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
    this.#tellIdle();
  }

  #run(): void {
    this.#cancelRun = undefined;
    const keys = [...this.#keys];
    this.#keys.clear();
    for (const key of keys) this.#reconcile(key);
    if (this.isIdle) this.#tellIdle();
  }

  #reconcile(key: string): void {
    try {
      this.#options.reconcile(key);
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  #tellIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
