import type { Position, SourceMap } from '#definition';

/**
 * The positions of one revision in the manifest that has it now. A comment moves lines without a new revision, and at a start a revision is
 * read from the status before its manifest: a plan that was compiled before keeps this source map, and its next messages have the new lines.
 */
export class CurrentSource implements SourceMap {
  #source: SourceMap;

  constructor(source: SourceMap) {
    this.#source = source;
  }

  /** Replaces the positions. */
  moveTo(source: SourceMap): void {
    this.#source = source;
  }

  get file(): string {
    return this.#source.file;
  }

  get isGenerated(): boolean {
    return this.#source.isGenerated === true;
  }

  valueAt(pointer: string): Position {
    return this.#source.valueAt(pointer);
  }

  keyAt(pointer: string): Position {
    return this.#source.keyAt(pointer);
  }

  insideAt(pointer: string, offset: number): Position {
    return this.#source.insideAt(pointer, offset);
  }
}
