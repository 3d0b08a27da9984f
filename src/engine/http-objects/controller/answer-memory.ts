import type { ByteSemaphore } from '#util/byte-semaphore.ts';

/** Memory of the shared pool for the answers of one exchange: taken at most once, and given back at its end. */
export class AnswerMemory {
  readonly #pool: ByteSemaphore | undefined;
  readonly #bytes: number;
  readonly #end = new AbortController();
  /** Undefined: nothing was asked for. */
  #granted: Promise<void> | 'at once' | undefined;

  /** `maxAnswerBytes`: of a body; its text and what is parsed of it take as much again, and more. */
  constructor(pool: ByteSemaphore | undefined, maxAnswerBytes: number) {
    this.#pool = pool;
    this.#bytes = 4 * maxAnswerBytes;
  }

  /** Undefined: granted. Otherwise granted when the promise resolves; it rejects at the end of the exchange. */
  reserve(): Promise<void> | undefined {
    if (this.#pool === undefined || this.#granted !== undefined) return undefined;
    const granted = this.#pool.acquire(this.#bytes, this.#end.signal);
    this.#granted = granted ?? 'at once';
    return granted;
  }

  /** Call once, at the end of the exchange: a request that has timed out may still wait for memory. */
  release(): void {
    const granted = this.#granted;
    if (granted === undefined) return;
    if (granted === 'at once') this.#pool?.release(this.#bytes);
    else {
      this.#end.abort(new Error('The exchange has ended'));
      // Granted in the same turn as it has ended, perhaps.
      granted.then(
        () => this.#pool?.release(this.#bytes),
        () => {},
      );
    }
  }
}
