import { jsonLength } from '#util/json.ts';
import { isTooDeep } from './nesting.ts';
import type { Transform, YamlText } from './value-forms.ts';

/**
 * What YAML an object may have in all of its fields together: line breaks, indicators and quotes of texts, or parts of values, and for each hundred
 * characters one more. Parsing takes up to 20 µs for each of them, a thousand times what a character of JSON takes, and all objects of a kind
 * wait for the conversion of one: 200 KB of brackets took two seconds.
 */
const mostMarks = 10_000;
const charactersPerMark = 100;
/** Printing a line takes as long as another one for each so many squares of its depth: 5,000 lines 480 levels deep took 13 s. */
const squaresPerMark = 2_000;

/** How much longer than its text a value may be: aliases make megabytes of a short text. */
const longestValue = { factor: 16, atLeast: 4_096 };

/** YAML that costs too much: the value is odd, as a text that is no YAML. */
class YamlCostError extends Error {}

/** YAML within limits. A text or a value beyond them is neither read nor printed, and those after it still are. */
export class YamlBudget implements YamlText {
  readonly #yaml: YamlText;
  #left = mostMarks;

  constructor(yaml: YamlText) {
    this.#yaml = yaml;
  }

  /** The conversion of an object, with all of the budget: the same object is always converted alike. */
  perObject(convert: Transform): Transform {
    return (value) => {
      this.#left = mostMarks;
      return convert(value);
    };
  }

  /** @throws any error for a text that is no YAML, or costs too much */
  parse(text: string): unknown {
    this.#spend(marksOf(text, this.#left));
    const value = this.#yaml.parse(text);
    const { factor, atLeast } = longestValue;
    if (jsonLength(value) > atLeast + factor * text.length) throw new YamlCostError();
    return value;
  }

  /** @throws any error for a value that cannot be printed, or costs too much */
  print(value: unknown): string {
    if (isTooDeep(value)) throw new YamlCostError();
    this.#spend(partsOf(value, this.#left));
    return this.#yaml.print(value);
  }

  #spend(marks: number): void {
    if (marks > this.#left) throw new YamlCostError();
    this.#left -= marks;
  }
}

/** Line breaks, indicators and quotes: each token of YAML but plain text has one. */
const isMark = new Set([...'\n,:-?[]{}&*!|>\'"#%@`'].map((each) => each.charCodeAt(0)));

/** Counts no further than `most`. */
function marksOf(text: string, most: number): number {
  let marks = text.length / charactersPerMark;
  for (let at = 0; at < text.length && marks <= most; at++)
    if (isMark.has(text.charCodeAt(at))) marks += 1;
  return marks;
}

/** Counts no further than `most`. */
function partsOf(value: unknown, most: number): number {
  let parts = 0;
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined && parts <= most; next = open.pop()) {
    const { value: each, depth } = next;
    const lines = typeof each === 'string' ? each.split('\n', most + 1).length : 1;
    parts += lines * (1 + depth ** 2 / squaresPerMark);
    if (typeof each === 'string') parts += each.length / charactersPerMark;
    if (typeof each !== 'object' || each === null) continue;
    for (const [name, part] of Object.entries(each)) {
      parts += name.length / charactersPerMark;
      open.push({ value: part, depth: depth + 1 });
    }
  }
  return parts;
}
