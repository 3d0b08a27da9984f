import type { Diagnostic, DiagnosticCode, Position, SourceMap } from '../definition/index.ts';

/** A mistake at a place in the document. */
export interface Mistake {
  /** @default 'error' */
  readonly severity?: Diagnostic['severity'];
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint?: string | undefined;
  /** JSON pointer into the document. */
  readonly path: string;
  /** The field's name, its value, or a character inside of a string value. @default 'value' */
  readonly at?: 'key' | 'value' | number;
}

/** Collects what is wrong with one definition. */
export interface Diagnostics {
  readonly source: SourceMap;
  report(mistake: Mistake): void;
  /** By position, each once, at most 100. */
  finish(): readonly Diagnostic[];
}

const mostDiagnostics = 100;

export function createDiagnostics(source: SourceMap): Diagnostics {
  const found = new Map<string, Diagnostic>();
  return {
    source,
    report(mistake) {
      const diagnostic = locate(mistake, source);
      const { line, column, code, message } = diagnostic;
      found.set(`${line}:${column} ${code} ${message}`, diagnostic);
    },
    finish: () =>
      [...found.values()]
        .toSorted((a, b) => a.line - b.line || a.column - b.column)
        .slice(0, mostDiagnostics),
  };
}

function locate(mistake: Mistake, source: SourceMap): Diagnostic {
  const { severity = 'error', code, message, hint, path } = mistake;
  return {
    severity,
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    file: source.file,
    ...positionOf(mistake, source),
    path,
  };
}

/** Where a mistake stands. */
export function positionOf(
  { path, at = 'value' }: Pick<Mistake, 'path' | 'at'>,
  source: SourceMap,
): Position {
  if (at === 'key') return source.keyAt(path);
  return at === 'value' ? source.valueAt(path) : source.insideAt(path, at);
}
