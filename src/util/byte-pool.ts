/**
 * Memory that many may hold together. Who needs more than there is waits, first come, first served; one who needs more than there will
 * ever be gets it when nobody else holds any. Take once: who holds some and waits for more could wait for one who waits for it.
 */
export class BytePool {
  readonly #size: number;
  #taken = 0;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** How much is held now. */
  get taken(): number {
    return this.#taken;
  }

  /** Undefined: it is yours; else it is when the promise resolves. */
  take(bytes: number): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#isThere(bytes)) {
      this.#taken += bytes;
      return undefined;
    }
    return new Promise((begin) => this.#waiting.push({ bytes, begin }));
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.#taken -= bytes;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#isThere(next.bytes)) return;
      this.#waiting.shift();
      this.#taken += next.bytes;
      next.begin();
    }
  }

  #isThere(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.#size;
  }
}
