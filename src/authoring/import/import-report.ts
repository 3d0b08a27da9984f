import type { SourceMap } from '#definition';

/** `approximated`: converted, with a difference. `left out`: not in the definition. */
export type Outcome = 'converted' | 'approximated' | 'left out';

/** What became of one construct of the source. Positions are 1-based. */
export interface Construct {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Where it is: `resources.web.template.spec.replicas`. */
  readonly name: string;
  readonly outcome: Outcome;
  /** The difference, or the reason, with a hint. Empty: converted. */
  readonly detail: string;
  /** What it does in the source, for a person who writes it by hand: `sets spec.size from spec.count`. */
  readonly effect?: string;
}

export interface ConstructPlace {
  readonly name: string;
  /** JSON pointer in the source. */
  readonly pointer: string;
  /** An offset inside the text at the pointer. @default the position of the value */
  readonly offset?: number;
  /** What the construct does in the source. */
  readonly effect?: string;
  /** Report the position of the key. */
  readonly isKey?: boolean;
}

/** Collects what became of the constructs of the documents of one definition. */
export class ImportReport {
  readonly #source: SourceMap;
  readonly #constructs: Construct[];

  /** With `constructs`, the report adds to those of another document. */
  constructor(source: SourceMap, constructs: Construct[] = []) {
    this.#source = source;
    this.#constructs = constructs;
  }

  /** All constructs, by position; those of this document's file first. */
  get constructs(): readonly Construct[] {
    const rank = ({ file }: Construct) => (file === this.#source.file ? '' : file);
    return this.#constructs.toSorted(
      (a, b) => rank(a).localeCompare(rank(b)) || a.line - b.line || a.column - b.column,
    );
  }

  /** A report of another document, which adds to the same constructs. */
  in(source: SourceMap): ImportReport {
    return new ImportReport(source, this.#constructs);
  }

  /** An empty report of the same document, for a part that may be discarded. */
  fork(): ImportReport {
    return new ImportReport(this.#source);
  }

  /** Adds the constructs of another report. */
  addAll({ constructs }: ImportReport): void {
    this.#constructs.push(...constructs);
  }

  /** Adds the reasons of a part that is discarded: what was converted is not in the result. */
  addLeftOut({ constructs }: ImportReport): void {
    this.#constructs.push(...constructs.filter(({ outcome }) => outcome === 'left out'));
  }

  converted(place: ConstructPlace, differences: Iterable<string> = []): void {
    const detail = [...differences].join('; ');
    this.#add(place, detail === '' ? 'converted' : 'approximated', detail);
  }

  leftOut(place: ConstructPlace, reason: string, hint?: string): void {
    this.#add(place, 'left out', hint === undefined ? reason : `${reason}. ${hint}`);
  }

  #add(
    { name, pointer, offset, isKey, effect }: ConstructPlace,
    outcome: Outcome,
    detail: string,
  ): void {
    const position =
      offset !== undefined
        ? this.#source.insideAt(pointer, offset)
        : isKey === true
          ? this.#source.keyAt(pointer)
          : this.#source.valueAt(pointer);
    const { file } = this.#source;
    const construct = { file, ...position, name, outcome, detail, ...(effect && { effect }) };
    // A custom type is converted once for each use.
    if (!this.#constructs.some((each) => isSame(each, construct))) this.#constructs.push(construct);
  }
}

function isSame(a: Construct, b: Construct): boolean {
  return (
    a.file === b.file &&
    a.line === b.line &&
    a.column === b.column &&
    a.name === b.name &&
    a.detail === b.detail &&
    a.effect === b.effect
  );
}
