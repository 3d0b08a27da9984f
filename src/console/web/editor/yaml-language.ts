import { yamlLanguage } from '@codemirror/lang-yaml';
import { type PartialParse, Tree } from '@lezer/common';

/**
 * The language of YAML for the editor. A text whose nesting exceeds the stack of the parser, such as 100,000 opening brackets, has no syntax
 * tree: it is edited without colors. The parser of the library throws then, and the editor would discard the edit.
 */
export function boundedYaml(): typeof yamlLanguage {
  return yamlLanguage.configure({
    wrap: (inner, _input, _fragments, ranges) => new BoundedParse(inner, ranges.at(-1)?.to ?? 0),
  });
}

/** A parse that results in an empty tree when the stack is exhausted. */
class BoundedParse implements PartialParse {
  readonly #inner: PartialParse;
  readonly #end: number;
  #isExhausted = false;

  constructor(inner: PartialParse, end: number) {
    this.#inner = inner;
    this.#end = end;
  }

  get parsedPos(): number {
    return this.#isExhausted ? this.#end : this.#inner.parsedPos;
  }

  get stoppedAt(): number | null {
    return this.#isExhausted ? null : this.#inner.stoppedAt;
  }

  stopAt(pos: number): void {
    this.#inner.stopAt(pos);
  }

  advance(): Tree | null {
    try {
      return this.#inner.advance();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#isExhausted = true;
      return new Tree(yamlLanguage.parser.topNode, [], [], this.#end);
    }
  }
}
