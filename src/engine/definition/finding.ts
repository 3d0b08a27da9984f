import type { JsonObject } from '#util/json.ts';

/** A diagnostic located by JSON pointer, before it has a line and a column. */
export interface Finding {
  /** @default 'error' */
  readonly severity?: 'error' | 'warning';
  readonly code: DiagnosticCode;
  /** JSON pointer of the invalid value, or of the missing field. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /**
   * Which position to report: the field's key, its value, the key of its parent, or an offset inside a string value.
   * @default 'value'
   */
  readonly at?: 'key' | 'value' | 'parent-key' | number;
}

/** Converts a finding to a diagnostic with its position in the file. */
export function locate(finding: Finding, source: SourceMap): Diagnostic {
  const { severity = 'error', code, path, message, hint } = finding;
  return {
    severity,
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    file: source.file,
    ...positionOf(finding, source),
    path,
  };
}

/** The position of a finding in the file. */
export function positionOf(
  { at = 'value', path }: Pick<Finding, 'at' | 'path'>,
  source: SourceMap,
): Position {
  switch (at) {
    case 'key':
      return source.keyAt(path);
    case 'parent-key':
      return source.keyAt(path.slice(0, path.lastIndexOf('/')));
    case 'value':
      return source.valueAt(path);
    default:
      return source.insideAt(path, at);
  }
}

/** 1-based. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Positions of the nodes of one YAML or JSON document. Contract between definition and compile. */
export interface SourceMap {
  readonly file: string;
  /** The text was generated from an object, so its lines mean nothing to users. @default false */
  readonly isGenerated?: boolean;
  /** Position of the value at a JSON pointer, or of its nearest existing ancestor. */
  valueAt(pointer: string): Position;
  /**
   * Position of the key of the field at a JSON pointer, or of its nearest existing ancestor. List items and the root
   * have no key: the position of their value.
   */
  keyAt(pointer: string): Position;
  /**
   * Position of a character inside the string value at a pointer. `offset` counts in the parsed string. Quotes,
   * escapes and block scalars are accounted for; in a folded scalar the result may be the start of the line.
   */
  insideAt(pointer: string, offset: number): Position;
}

/** One accepted document: the typed definition and the positions of its parts. */
export interface LocatedDefinition {
  readonly definition: import('./operator-definition.ts').OperatorDefinition;
  readonly source: SourceMap;
  /** `spec.acceptedWarnings`, with those that are used by a warning of the document. @default [] */
  readonly acceptedWarnings?: readonly import('./accepted-warnings.ts').AcceptedWarning[];
  /** The document as written, to store a copy of it (the definition object, its revisions). */
  readonly document: JsonObject;
  /**
   * JSON pointers of the definition's reads and children, in the order of the definition. A rejected definition may
   * lack some that the document has.
   */
  readonly pointers: {
    readonly reads: readonly string[];
    readonly children: readonly string[];
    /** JSON pointers of the children of `onDelete`. */
    readonly onDelete: readonly string[];
    /** JSON pointers of the objects of `install`. @default undefined: there are none */
    readonly install?: readonly string[];
  };
}

/** Every code has an entry in docs/diagnostics.md, and a test. Rooms add theirs here, in alphabetical order. */
export const diagnosticCodes = [
  'ambiguous-yaml',
  'breaking-change',
  'cycle',
  'duplicate-id',
  'expression-syntax',
  'forbidden-expression',
  'invalid-crd',
  'invalid-name',
  'invalid-value',
  'missing-field',
  'optional-parent',
  'render-failed',
  'suspicious-expression',
  'template-syntax',
  'unknown-child-field',
  'unknown-field',
  'unknown-name',
  'unknown-path',
  'unused-acceptance',
  'wrong-type',
  'yaml-syntax',
] as const;

export type DiagnosticCode = (typeof diagnosticCodes)[number];

/** An error or a warning about a definition. Positions are 1-based. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  /** Starts with a capital letter, has no final period, quotes the values it names, and is stable. */
  readonly message: string;
  readonly hint?: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** JSON pointer into the document: `/spec/children/0/template/spec/replcas`. */
  readonly path: string;
}
