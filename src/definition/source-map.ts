import type { JsonObject } from '../util/json.ts';

/** 1-based. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Where the nodes of one YAML or JSON document stand. CONTRACT between definition and compile. */
export interface SourceMap {
  readonly file: string;
  /** Position of the value at a JSON pointer; of the nearest existing ancestor when there is none. */
  valueAt(pointer: string): Position;
  /** Position of the key of the field at a JSON pointer; of the value for list items and the root; of the nearest existing ancestor when there is none. */
  keyAt(pointer: string): Position;
  /**
   * Position of a character inside the string value at a pointer: `offset` counts in the parsed string;
   * quoting, escapes and block scalars are accounted for (folded text: the start of the line at worst).
   */
  insideAt(pointer: string, offset: number): Position;
}

/** One accepted document: the typed definition and where its parts stand. */
export interface LocatedDefinition {
  readonly definition: import('./operator-definition.ts').OperatorDefinition;
  readonly source: SourceMap;
  /** The document as it was written: for a copy of it (the definition's object, its revisions). */
  readonly document: JsonObject;
  /** JSON pointers of the definition's reads and children, in its order: a draft may lack some that the document has. */
  readonly pointers: {
    readonly reads: readonly string[];
    readonly children: readonly string[];
    /** Of the children of `onDelete`. */
    readonly onDelete: readonly string[];
  };
}
