import type { Diagnostic, DiagnosticCode } from './diagnostic.ts';
import type { Position, SourceMap } from './source-map.ts';

/** A mistake at a place in the tree, before it has a line and a column. */
export interface Finding {
  /** @default 'error' */
  readonly severity?: 'error' | 'warning';
  readonly code: DiagnosticCode;
  /** JSON pointer of what is wrong (of the field that is missing). */
  readonly path: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Point at the field's name, at its value, or at the field that should hold it. @default 'value' */
  readonly at?: 'key' | 'value' | 'parent-key';
}

/** Gives a finding its position in the file. */
export function locate(finding: Finding, source: SourceMap): Diagnostic {
  const { severity = 'error', code, path, message, hint } = finding;
  const position = positionOf(finding, source);
  return {
    severity,
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    file: source.file,
    ...position,
    path,
  };
}

function positionOf({ at = 'value', path }: Finding, source: SourceMap): Position {
  const place: 'key' | 'value' | 'parent-key' = at;
  switch (place) {
    case 'key':
      return source.keyAt(path);
    case 'parent-key':
      return source.keyAt(path.slice(0, path.lastIndexOf('/')));
    case 'value':
      return source.valueAt(path);
  }
}
