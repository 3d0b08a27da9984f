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

  /** Undefined: acquired at once. Otherwise acquired when the promise resolves. */
  acquire(bytes: number): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#acquired += bytes;
      return undefined;
    }
    return new Promise((begin) => this.#waiting.push({ bytes, begin }));
  }

  /** Releases acquired bytes. */
  release(bytes: number): void {
    this.#acquired -= bytes;
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
