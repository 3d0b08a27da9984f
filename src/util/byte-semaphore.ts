/**
 * A FIFO semaphore of memory. A request above its size is granted when nothing else is acquired. Acquire only once: a
 * holder that waits for more can deadlock.
 */
export class ByteSemaphore {
  readonly #size: number;
  #acquired = 0;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** Bytes acquired now. */
  get acquired(): number {
    return this.#acquired;
  }

  /**
   * Undefined: acquired at once. Otherwise acquired when the promise resolves. With `signal`, the wait ends without them when it aborts: the
   * promise rejects with its reason.
   */
  acquire(bytes: number, signal?: AbortSignal): Promise<void> | undefined {
    signal?.throwIfAborted();
    if (this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#acquired += bytes;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const waiter = { bytes, begin };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal?.reason);
        // It may have been in the way of smaller ones.
        this.#grant();
      };
      this.#waiting.push(waiter);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Releases acquired bytes. */
  release(bytes: number): void {
    this.#acquired -= bytes;
    this.#grant();
  }

  #grant(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#fits(next.bytes)) return;
      this.#waiting.shift();
      this.#acquired += next.bytes;
      next.begin();
    }
  }

  #fits(bytes: number): boolean {
    return this.#acquired === 0 || this.#acquired + bytes <= this.#size;
  }
}
