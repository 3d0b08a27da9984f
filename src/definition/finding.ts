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
  /**
   * Point at the field's name, at its value, at the field that should hold it, or at a character inside of a string value.
   * @default 'value'
   */
  readonly at?: 'key' | 'value' | 'parent-key' | number;
}

/** Gives a finding its position in the file. */
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

/** Where a finding stands. */
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
