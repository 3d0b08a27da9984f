import type { Diagnostic } from '../definition/index.ts';

/** Definitions of a file that have mistakes and are not run. */
export interface RefusedFile {
  readonly file: string;
  /** How many of its definitions; at least one. */
  readonly definitions: number;
  /** As {@link diagnosticText} says them, by position. */
  readonly diagnostics: readonly string[];
}

/** Files with errors, in the order of their first one. `refused`: the file of each definition that was refused, as far as they could be told apart. */
export function refusedFiles(
  diagnostics: readonly Diagnostic[],
  refused: readonly string[],
): readonly RefusedFile[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return [...new Set(errors.map(({ file }) => file))].map((file) => ({
    file,
    definitions: Math.max(1, refused.filter((each) => each === file).length),
    diagnostics: errors.filter((error) => error.file === file).map(diagnosticText),
  }));
}

/** A diagnostic on one line: `file:line:column: message. Hint`. */
export function diagnosticText({ file, line, column, ...said }: Diagnostic): string {
  return `${file}:${line}:${column}: ${wordsOf(said)}`;
}

/** What is wrong, and what to do about it where that is known. */
export function wordsOf({ message, hint }: Pick<Diagnostic, 'message' | 'hint'>): string {
  return hint === undefined ? message : `${message}. ${hint}`;
}
