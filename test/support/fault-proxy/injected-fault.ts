import type { Fault } from './fault.ts';
import type { ProxiedRequest } from './proxied-request.ts';

/** A fault at work: counts what it does. */
export class InjectedFault<T extends Fault = Fault> {
  readonly fault: T;
  /** Aborts when the fault is removed. */
  readonly removed: AbortSignal;
  readonly #removal = new AbortController();
  readonly #waiting = new Set<() => void>();
  #matched = 0;
  #count = 0;

  constructor(fault: T) {
    this.fault = fault;
    this.removed = this.#removal.signal;
  }

  /** How often it has acted. */
  get count(): number {
    return this.#count;
  }

  /** Ends it; what it holds is let go. */
  remove(): void {
    this.#removal.abort();
  }

  /** Resolves when it has acted so often. */
  untilCount(count: number): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (this.#count < count) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  /** Does it act on this one? It then counts. */
  takes(request: ProxiedRequest): boolean {
    const { when, after = 0, times = Infinity } = this.fault;
    if (this.removed.aborted || this.#count >= times) return false;
    if (when !== undefined && !when(request)) return false;
    this.#matched += 1;
    if (this.#matched <= after) return false;
    this.#count += 1;
    for (const check of this.#waiting) check();
    return true;
  }
}
