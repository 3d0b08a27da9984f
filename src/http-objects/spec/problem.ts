/** An error or a warning about an `HttpObject` or `HttpEndpoint`, for a diagnostic or a condition. */
export interface SpecProblem {
  readonly severity: 'error' | 'warning';
  /** JSON pointer to the value: `/spec/observe/path`. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
  /** Offset in the text at `path`. */
  readonly offset?: number;
}

export function errorAt(path: string, message: string, hint?: string): SpecProblem {
  return { severity: 'error', path, message, ...(hint !== undefined && { hint }) };
}

export function warningAt(path: string, message: string, hint?: string): SpecProblem {
  return { severity: 'warning', path, message, ...(hint !== undefined && { hint }) };
}

/** The problem as one sentence, for a condition. */
export function problemText({ path, message, hint }: SpecProblem): string {
  return `${message} at ${path}${hint === undefined ? '' : ` (${hint})`}`;
}
