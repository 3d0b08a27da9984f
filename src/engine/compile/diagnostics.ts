import {
  type AcceptedWarning,
  type Diagnostic,
  type Finding,
  locate,
  type SourceMap,
  withoutAccepted,
} from '#definition';

/** Collects the diagnostics of one definition. */
export interface Diagnostics {
  readonly source: SourceMap;
  report(finding: Finding): void;
  /** Sorted by position, without duplicates and without warnings that are accepted, at most 100. `accepted`: @default [] */
  finish(accepted?: readonly AcceptedWarning[]): ReturnType<typeof withoutAccepted>;
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
    finish(accepted = []) {
      const sorted = [...found.values()].toSorted((a, b) => a.line - b.line || a.column - b.column);
      const remaining = withoutAccepted(sorted, accepted);
      return { ...remaining, diagnostics: remaining.diagnostics.slice(0, maxDiagnostics) };
    },
  };
}
