import { patienceMs } from '../patience.ts';
import type { Fault } from './fault.ts';
import type { ProxiedRequest } from './proxied-request.ts';

/** A fault at work: counts what it does. */
export class InjectedFault<T extends Fault = Fault> {
  readonly fault: T;
  /** Aborts when the fault is removed. */
  readonly removed: AbortSignal;
  readonly #removal = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #held = new Set<() => void>();
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

  /** Requests or answers that it holds now. */
  get heldCount(): number {
    return this.#held.size;
  }

  /** Ends it; what it holds is let go. */
  remove(): void {
    this.#removal.abort();
    this.release();
  }

  /** Releases what it holds now; it continues with what comes. */
  release(): void {
    for (const letGo of this.#held) letGo();
    this.#held.clear();
  }

  /** Resolves when it is released or removed. */
  hold(): Promise<void> {
    return new Promise((resolve) => {
      if (this.removed.aborted) resolve();
      else this.#held.add(resolve);
    });
  }

  /** Resolves when it has acted so often. @throws Error that names it, after `limitMs`: by default `patienceMs`. */
  untilCount(count: number, limitMs = patienceMs): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(check);
      };
      const check = () => {
        if (this.#count < count) return;
        end();
        resolve();
      };
      const timer = setTimeout(() => {
        end();
        const { name } = this.fault;
        reject(new Error(`Expected "${name}" to happen ${count} times, found ${this.#count}`));
      }, limitMs).unref();
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
