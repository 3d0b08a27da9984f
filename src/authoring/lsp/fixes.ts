import { type Diagnostic as Problem, quoteExpressionAt } from '#definition';
import type { MarkData } from './marks.ts';
import type { Diagnostic, TextDocument } from './protocol.ts';

/** A change of a text that removes a diagnostic. */
export interface Fix {
  readonly title: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface FixContext {
  readonly document: TextDocument;
  /** Checks a changed text of the document. */
  readonly check: (text: string) => Promise<readonly Problem[]>;
}

/**
 * The fix of a diagnostic that suggests another name. Undefined: it suggests none, or the changed text has an error at the same place,
 * because the hint does not replace what is marked.
 */
export async function fixOf(
  { range, code, data }: Diagnostic,
  { document, check }: FixContext,
): Promise<Fix | undefined> {
  const { hint, path } = (data ?? {}) as Partial<MarkData>;
  const required = /^Add "required: \[([^\]"]+)\]" to the schema(?:,|$)/.exec(hint ?? '')?.[1];
  if (required !== undefined)
    return requireField(required, { document, check, at: document.offsetAt(range.start) });
  const text = document.getText();
  const place = { start: document.offsetAt(range.start), end: document.offsetAt(range.end) };
  const isProblem = (found: Problem) =>
    (found.code === code && found.path === path && path !== '') ||
    (found.line - 1 === range.start.line && found.column - 1 === range.start.character);
  for (const fix of proposals(text, place, hint ?? '')) {
    const fixed = text.slice(0, fix.start) + fix.text + text.slice(fix.end);
    if (!(await check(fixed)).some(isProblem)) return fix;
  }
  return undefined;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** What a hint proposes to write in place of what is marked. */
function* proposals(text: string, place: Place, hint: string): Generator<Fix> {
  const name = /^Did you mean "([^"]+)"\?$/.exec(hint)?.[1];
  if (name !== undefined)
    for (const each of candidates(text, { ...place, name }))
      yield { ...each, title: `Change to "${name}"` };
  if (/must be quoted$|^Quote the whole value|^Use the other quote/.test(hint)) {
    const change = quoteExpressionAt(text, place.start, 'definition');
    if (change !== undefined) yield { ...change, title: 'Quote the value' };
  }
  const quoted = /^Quote it: ("[^"]+")$/.exec(hint)?.[1];
  if (quoted !== undefined) yield { ...place, text: quoted, title: 'Quote the name' };
  const written = /^Write "(\$\{ [\w.]+ \})"/.exec(hint)?.[1];
  if (written !== undefined) yield* expressions(text, place, written);
  if (hint === 'Remove the brace')
    yield { start: place.start, end: place.start + 1, text: '', title: hint };
}

/** A path that becomes an expression: in quotes where the text has none. */
function* expressions(text: string, { start, end }: Place, written: string): Generator<Fix> {
  const name = written.slice(2, -1).trim();
  const path = [`$${name}`, name].find((each) => text.startsWith(each, start));
  const title = `Change to "${written}"`;
  if (path !== undefined) yield { start, end: start + path.length, text: written, title };
  yield { start, end, text: `"${written}"`, title };
}

/** What the suggested name may replace: the marked text without its quotes, or the whole path that begins there. */
function candidates(
  text: string,
  { start, end, name }: { readonly start: number; readonly end: number; readonly name: string },
): readonly Omit<Fix, 'title'>[] {
  const marked = text.slice(start, end);
  const isQuoted = /^(["']).*\1$/s.test(marked);
  const word = isQuoted
    ? { start: start + 1, end: end - 1, text: name }
    : { start, end, text: name };
  const path = /^[\w$.]+/.exec(text.slice(start))?.[0] ?? '';
  const isField = text.charAt(start - 1) === '.';
  return name.includes('.') && !isField
    ? [{ start, end: start + path.length, text: name }, word]
    : [word];
}

/** Adds `required` beside the `properties` that contain a field. Undefined: there is a `required` already, or none can be added. */
async function requireField(
  field: string,
  { document, check, at }: FixContext & { readonly at: number },
): Promise<Fix | undefined> {
  const text = document.getText();
  const properties = text.lastIndexOf('properties:', at);
  if (properties < 0) return undefined;
  const indent = /(?:^|\n)( *)$/.exec(text.slice(0, properties))?.[1];
  const separator = indent === undefined ? ', ' : `\n${indent}`;
  const added = `required: [${field}]${separator}`;
  const fixed = text.slice(0, properties) + added + text.slice(properties);
  const found = await check(fixed);
  const isMended = !found.some(
    ({ code, severity, message }) =>
      severity === 'error' || (code === 'optional-parent' && message.startsWith(`"${field}"`)),
  );
  return isMended
    ? { title: `Require "${field}"`, start: properties, end: properties, text: added }
    : undefined;
}
