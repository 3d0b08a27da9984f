import { type Diagnostic, type Finding, locate, type SourceMap } from '../definition/index.ts';

/** Collects the diagnostics of one definition. */
export interface Diagnostics {
  readonly source: SourceMap;
  report(finding: Finding): void;
  /** Sorted by position, without duplicates, at most 100. */
  finish(): readonly Diagnostic[];
}

const maxDiagnostics = 100;

export function createDiagnostics(source: SourceMap): Diagnostics {
  const found = new Map<string, Diagnostic>();
  return {
    source,
    report(finding) {
      const diagnostic = locate(finding, source);
      const { line, column, code, message } = diagnostic;
      found.set(`${line}:${column} ${code} ${message}`, diagnostic);
    },
    finish: () =>
      [...found.values()]
        .toSorted((a, b) => a.line - b.line || a.column - b.column)
        .slice(0, maxDiagnostics),
  };
}
