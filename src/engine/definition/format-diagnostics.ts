import type { Diagnostic } from './finding.ts';

export interface FormatOptions {
  /** Colours for a terminal. @default false */
  readonly color?: boolean;
}

/** Longer lines are truncated around the error. In characters. */
const maxLineWidth = 110;

type Paint = (style: 'error' | 'warning' | 'quiet' | 'strong' | 'help', text: string) => string;

/**
 * Formats diagnostics like a compiler: position, code and message, the source line with the error underlined, the
 * hint; then a summary line. `sources` maps file names to their contents; without it a diagnostic has no code frame.
 * No diagnostics give the empty string.
 */
export function formatDiagnostics(
  diagnostics: readonly Diagnostic[],
  sources: ReadonlyMap<string, string>,
  options: FormatOptions = {},
): string {
  if (diagnostics.length === 0) return '';
  const paint = options.color === true ? paintAnsi : paintPlain;
  const lines = new Map([...sources].map(([file, text]) => [file, text.split(/\r?\n/)]));
  const blocks = diagnostics.map((diagnostic) => {
    const line = lines.get(diagnostic.file)?.[diagnostic.line - 1];
    return formatOne(diagnostic, line, paint);
  });
  return `${blocks.join('\n\n')}\n\n${summaryOf(diagnostics)}\n`;
}

function formatOne(diagnostic: Diagnostic, line: string | undefined, paint: Paint): string {
  const { severity, code } = diagnostic;
  const [message, file] = [
    replaceControlCharacters(diagnostic.message),
    replaceControlCharacters(diagnostic.file),
  ];
  const hint = diagnostic.hint && replaceControlCharacters(diagnostic.hint);
  const place = `${file}:${diagnostic.line}:${diagnostic.column}`;
  const head = `${place}: ${paint(severity, `${severity}[${code}]`)}: ${paint('strong', message)}`;
  const frame = line === undefined ? [] : frameOf(diagnostic, line, paint);
  const gutter = ' '.repeat(String(diagnostic.line).length);
  const help =
    hint === undefined
      ? []
      : [`${paint('quiet', `${gutter} =`)} ${paint('help', `hint: ${hint}`)}`];
  return [head, ...frame, ...help].join('\n');
}

function frameOf(diagnostic: Diagnostic, line: string, paint: Paint): readonly string[] {
  const number = String(diagnostic.line);
  const gutter = ' '.repeat(number.length);
  const { shown, column } = truncateAround(line, diagnostic.column - 1);
  const before = shown.slice(0, column).replaceAll(/[^\t]/g, ' ');
  const marks = '^'.repeat(underlineLength(shown.slice(column), diagnostic.message));
  return [
    paint('quiet', `${gutter} |`),
    `${paint('quiet', `${number} |`)} ${replaceControlCharacters(shown)}`.trimEnd(),
    `${paint('quiet', `${gutter} |`)} ${before}${paint(diagnostic.severity, marks)}`,
  ];
}

/**
 * Replaces control and bidirectional formatting characters, which a terminal would interpret, by symbols of the same
 * width.
 */
function replaceControlCharacters(text: string): string {
  return text.replaceAll(/[[\p{Cc}\p{Bidi_Control}]--[\t\n]]/gv, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });
}

/** The part of a long line (such as a JSON file on one line) that contains the column. */
function truncateAround(
  line: string,
  column: number,
): { readonly shown: string; readonly column: number } {
  if (line.length <= maxLineWidth) return { shown: line, column };
  const start = Math.max(0, Math.min(column - maxLineWidth / 2, line.length - maxLineWidth));
  const head = start > 0 ? '...' : '';
  const tail = start + maxLineWidth < line.length ? '...' : '';
  return {
    shown: `${head}${line.slice(start, start + maxLineWidth)}${tail}`,
    column: column - start + head.length,
  };
}

/** The length to underline: a name that the message quotes, else a quoted string, an expression or a word. */
function underlineLength(rest: string, message: string): number {
  const names = [...message.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
  const named = names.find((name) => rest.startsWith(name));
  const token = /^(?:"(?:\\.|[^"\\])*"|'[^']*'|\$\{[^}]*\}|[\w$./-]+)/.exec(rest)?.[0];
  return Math.max(1, (named ?? token)?.length ?? 1);
}

function summaryOf(diagnostics: readonly Diagnostic[]): string {
  const counts = (['error', 'warning'] as const).flatMap((severity) => {
    const count = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
    return count === 0 ? [] : [pluralize(count, severity)];
  });
  const files = new Set(diagnostics.map(({ file }) => file)).size;
  return `${counts.join(', ')} in ${pluralize(files, 'file')}`;
}

function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const codes = { error: 31, warning: 33, quiet: 2, strong: 1, help: 36 } as const;

function paintAnsi(style: keyof typeof codes, text: string): string {
  return `\u001b[${codes[style]}m${text}\u001b[0m`;
}

function paintPlain(_style: string, text: string): string {
  return text;
}
