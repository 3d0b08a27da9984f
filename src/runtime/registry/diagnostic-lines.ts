import type { Diagnostic } from '../../definition/index.ts';
import { diagnosticText } from '../refused-file.ts';
import type { SourceText } from '../sources/index.ts';

/** The errors among them, one line each. Nobody has seen the lines of an object: there the path says where. */
export function linesOf(
  { origin }: SourceText,
  diagnostics: readonly Diagnostic[],
): readonly string[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return errors.map(origin.source === 'object' ? textByPath : diagnosticText);
}

function textByPath({ file, path, message }: Diagnostic): string {
  return path === ''
    ? `${file}: ${message}`
    : `${file}: ${path.slice(1).replaceAll('/', '.')}: ${message}`;
}
