import type { DefinitionManifest } from '#check';
import { type Diagnostic, formatDiagnostics } from '#definition';
import type { Output } from './output.ts';

/** Prints errors with a code frame to standard error; nothing when there are none. */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  texts: readonly DefinitionManifest[],
  output: Output,
): void {
  if (diagnostics.length === 0) return;
  const sources = new Map(texts.map(({ file, text }) => [file, text]));
  output.error(formatDiagnostics(diagnostics, sources, { color: output.hasColor }), 'colored');
}
