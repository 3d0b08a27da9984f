import { type Diagnostic, type Finding, locate, type SourceMap } from '../definition/index.ts';

/** Collects what is wrong with one definition. */
export interface Diagnostics {
  readonly source: SourceMap;
  report(finding: Finding): void;
  /** By position, each once, at most 100. */
  finish(): readonly Diagnostic[];
}

const mostDiagnostics = 100;

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
        .slice(0, mostDiagnostics),
  };
}
