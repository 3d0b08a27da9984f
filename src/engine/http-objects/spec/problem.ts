/** An error or a warning about an `HttpObject` or `HttpEndpoint`, for a diagnostic or a condition. */
export interface SpecProblem {
  readonly severity: 'error' | 'warning';
  /** @default 'invalid-value' */
  readonly code?: SpecProblemCode;
  /** JSON pointer to the value: `/spec/observe/path`. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
  /** JSON pointer to another value that it depends on. */
  readonly because?: string;
  /** It is about the key at the end of the path, whatever its value is. */
  readonly isOfKey?: true;
  /** Offset in the text at `path`. */
  readonly offset?: number;
}

/** Codes of diagnostics. */
export type SpecProblemCode =
  | 'expression-syntax'
  | 'forbidden-expression'
  | 'missing-field'
  | 'suspicious-expression'
  | 'unknown-field'
  | 'wrong-type';

export function errorAt(path: string, message: string, hint?: string): SpecProblem {
  return { severity: 'error', path, message, ...(hint !== undefined && { hint }) };
}

export function warningAt(path: string, message: string, hint?: string): SpecProblem {
  return { severity: 'warning', path, message, ...(hint !== undefined && { hint }) };
}

/** An error of a key, whatever its value is. */
export function errorOfKey(path: string, message: string, hint?: string): SpecProblem {
  return { ...errorAt(path, message, hint), isOfKey: true };
}

/** A text that probably has another meaning than intended. */
export function suspicious(path: string, message: string, hint: string): SpecProblem {
  return { ...warningAt(path, message, hint), code: 'suspicious-expression' };
}

/** The problem as one sentence, for a condition. */
export function problemText({ path, message, hint }: SpecProblem): string {
  return `${message} at ${path}${hint === undefined ? '' : ` (${hint})`}`;
}
