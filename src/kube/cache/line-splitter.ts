/** Cuts a text that comes in pieces into lines. Only at `\n`: JSON may hold other line separators. */
export class LineSplitter {
  /** The pieces of a line that has not ended; joined once, or a long line would cost its length per piece. */
  #pieces: string[] = [];

  /** The lines that end in `chunk`, without their ends. */
  push(chunk: string): readonly string[] {
    const lines = chunk.split('\n');
    const rest = lines.pop() ?? '';
    if (lines.length > 0 && this.#pieces.length > 0) {
      this.#pieces.push(lines[0] ?? '');
      lines[0] = this.#pieces.join('');
      this.#pieces = [];
    }
    if (rest !== '') this.#pieces.push(rest);
    return lines;
  }
}
