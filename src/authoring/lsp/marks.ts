import { type Diagnostic as Problem, placeAt } from '#definition';
import type { ParsedText } from './parsed-text.ts';
import { type Diagnostic, DiagnosticSeverity, type TextDocument } from './protocol.ts';

/** What a client returns with a diagnostic when it asks for fixes. */
export interface MarkData {
  /** JSON pointer of the value. */
  readonly path: string;
  readonly hint: string | undefined;
}

/** A diagnostic for a client. It marks the key, value or word at its position, on one line. */
export function markOf(
  { severity, code, message, hint, line, column, path }: Problem,
  { document, parsed }: { readonly document: TextDocument; readonly parsed: ParsedText },
): Diagnostic {
  const start = document.offsetAt({ line: line - 1, character: column - 1 });
  const data: MarkData = { path, hint };
  return {
    severity: severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    source: 'homeostat',
    code,
    message: hint === undefined ? message : `${message}. ${hint}`,
    range: {
      start: document.positionAt(start),
      end: document.positionAt(endOfMark(parsed, start)),
    },
    data,
  };
}

function endOfMark({ text, documents }: ParsedText, start: number): number {
  for (const { tree } of documents) {
    const place = tree && placeAt(tree, start);
    if (place?.start !== start || (place.at === 'value' && place.node?.kind !== 'scalar')) continue;
    const written = text.slice(start, place.end);
    const isBlock = /^[|>]/.test(written);
    if (written !== '' && !isBlock)
      return start + (written.split(/\r?\n/)[0]?.trimEnd().length ?? 0);
  }
  const word = /^(?:\$\{|\{\{|`[^`\n]*`|[$\w][\w-]*|[ \t]*\S)/.exec(text.slice(start, start + 200));
  return start + (word?.[0].length ?? 0);
}
