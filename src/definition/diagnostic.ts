/** Every code has an entry in docs/diagnostics.md, and a test. Rooms add theirs here, in alphabetical order. */
export type DiagnosticCode =
  | 'ambiguous-yaml'
  | 'breaking-change'
  | 'cycle'
  | 'duplicate-id'
  | 'expression-syntax'
  | 'forbidden-expression'
  | 'invalid-crd'
  | 'invalid-name'
  | 'invalid-value'
  | 'missing-field'
  | 'not-supported-yet'
  | 'suspicious-expression'
  | 'template-syntax'
  | 'unknown-child-field'
  | 'unknown-field'
  | 'unknown-name'
  | 'unknown-path'
  | 'wrong-type'
  | 'yaml-syntax';

/** A user's mistake as data. Positions are 1-based. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  /** Capital first letter, no final period, found values in quotes, stable text. */
  readonly message: string;
  readonly hint?: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** JSON pointer into the document: `/spec/children/0/template/spec/replcas`. */
  readonly path: string;
}
