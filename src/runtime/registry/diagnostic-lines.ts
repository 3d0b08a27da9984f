import type { Diagnostic } from '../../definition/index.ts';
import { diagnosticText, wordsOf } from '../refused-file.ts';
import type { SourceText } from '../sources/index.ts';

/** The errors among them, or the warnings, one line each. Nobody has seen the lines of an object: there the path says where. */
export function linesOf(
  { origin }: SourceText,
  diagnostics: readonly Diagnostic[],
  wanted: Diagnostic['severity'] = 'error',
): readonly string[] {
  const found = diagnostics.filter(({ severity }) => severity === wanted);
  return found.map(origin.source === 'object' ? textByPath : diagnosticText);
}

function textByPath({ file, path, ...said }: Diagnostic): string {
  const place = path === '' ? file : `${file}: ${path.slice(1).replaceAll('/', '.')}`;
  return `${place}: ${wordsOf(said)}`;
}
