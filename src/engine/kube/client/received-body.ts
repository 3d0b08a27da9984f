/** After so many chunks, small ones are copied into blocks. */
const plainChunks = 64;
const blockBytes = 16_384;

/**
 * The body of a response that is being received. Many small chunks are copied together: a server can send each byte as a chunk of its own,
 * and a `Buffer` takes a hundred times as much.
 */
export class ReceivedBody {
  readonly #chunks: Buffer[] = [];
  #block: Buffer | undefined;
  #used = 0;

  add(chunk: Buffer): void {
    if (chunk.length >= blockBytes / 2 || this.#chunks.length < plainChunks) {
      this.#endBlock();
      this.#chunks.push(chunk);
      return;
    }
    if (this.#used + chunk.length > blockBytes) this.#endBlock();
    this.#block ??= Buffer.allocUnsafeSlow(blockBytes);
    this.#used += chunk.copy(this.#block, this.#used);
  }

  /** How many buffers it consists of. */
  get pieces(): number {
    return this.#chunks.length + (this.#block === undefined ? 0 : 1);
  }

  /** The whole body as text. */
  text(): string {
    this.#endBlock();
    const [first] = this.#chunks;
    const whole = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    return whole.toString('utf8');
  }

  #endBlock(): void {
    if (this.#block !== undefined) this.#chunks.push(this.#block.subarray(0, this.#used));
    this.#block = undefined;
    this.#used = 0;
  }
}
