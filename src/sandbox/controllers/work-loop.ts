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
  readonly #cancels = new Set<() => void>();
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

  /** Reconciles a key after a time. */
  addAfter(key: string, ms: number): void {
    const cancel = this.#options.clock.after(ms, () => {
      this.#cancels.delete(cancel);
      this.add(key);
    });
    this.#cancels.add(cancel);
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
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
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
