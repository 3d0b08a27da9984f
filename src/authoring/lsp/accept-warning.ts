import { entryAt, namedPath, nodeAtSteps, warningCodes, type YamlNode } from '#definition';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json } from '#util/json.ts';
import type { Fix } from './fixes.ts';
import type { MarkData } from './marks.ts';
import { documentAt, type ParsedText, parseText } from './parsed-text.ts';
import { type Diagnostic, DiagnosticSeverity } from './protocol.ts';

const field = 'acceptedWarnings';

/**
 * Adds an entry for a warning to `spec.acceptedWarnings`. Its reason is empty, which is an error until the author writes one. Undefined: the
 * warning cannot be accepted, or its definition cannot be read.
 * @param offset of the warning
 */
export function acceptanceOf(
  { severity, code, data }: Pick<Diagnostic, 'severity' | 'code' | 'data'>,
  parsed: ParsedText,
  offset: number,
): Fix | undefined {
  const { path } = (data ?? {}) as Partial<MarkData>;
  const isAcceptable = warningCodes.some((known) => known === code);
  if (severity !== DiagnosticSeverity.Warning || !isAcceptable || path === undefined)
    return undefined;
  const document = documentAt(parsed, offset);
  const spec = nodeAtSteps(document?.tree, ['spec']);
  if (document?.kind !== 'OperatorDefinition' || spec?.kind !== 'map') return undefined;
  const entry: Entry = { code: String(code), path: namedPath(document.value, path), reason: '' };
  const added = insertionOf(spec, parsed.text, entry);
  if (added === undefined) return undefined;
  const fix = { ...added, end: added.start, title: 'Accept this warning with a reason' };
  return isHarmless(fix, parsed, offset) ? fix : undefined;
}

interface Entry {
  readonly code: string;
  readonly path: string;
  readonly reason: string;
}

type Insertion = Pick<Fix, 'start' | 'text'>;

function insertionOf(
  spec: Extract<YamlNode, { kind: 'map' }>,
  text: string,
  entry: Entry,
): Insertion | undefined {
  const list = entryAt(spec, field);
  if (list?.value?.kind === 'list') return intoList(list.value.start, text, entry);
  if (list !== undefined) return undefined;
  const last = spec.entries.at(-1);
  if (last === undefined) return undefined;
  if (spec.isFlow) {
    const start = last.value?.end ?? text.indexOf(':', last.keyEnd) + 1;
    return { start, text: `, "${field}": [${JSON.stringify(entry)}]` };
  }
  const indent = ' '.repeat(columnAt(text, last.keyStart));
  const start = endOfLine(text, text.slice(0, spec.end).trimEnd().length);
  return { start, text: `\n${indent}${field}:\n${indent}  ${itemText(entry, `${indent}  `)}` };
}

/** Before the first item. */
function intoList(start: number, text: string, entry: Entry): Insertion {
  if (text.charAt(start) === '[') {
    const isEmpty = /^\[\s*\]/.test(text.slice(start));
    return { start: start + 1, text: JSON.stringify(entry) + (isEmpty ? '' : ', ') };
  }
  const indent = ' '.repeat(columnAt(text, start));
  return { start, text: `${itemText(entry, indent)}\n${indent}` };
}

function itemText({ code, path, reason }: Entry, indent: string): string {
  const plainPath = /^[\w/.~-]+$/.test(path) ? path : JSON.stringify(path);
  return [`- code: ${code}`, `path: ${plainPath}`, `reason: ${JSON.stringify(reason)}`].join(
    `\n${indent}  `,
  );
}

function columnAt(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

function endOfLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end;
}

/** Whether the changed text has the same definition besides the accepted warnings. */
function isHarmless(
  { start, text: added }: Insertion,
  parsed: ParsedText,
  offset: number,
): boolean {
  const { text } = parsed;
  const changed = parseText(text.slice(0, start) + added + text.slice(start));
  const before = documentAt(parsed, offset)?.value;
  const at = offset < start ? offset : offset + added.length;
  const after = documentAt(changed, at)?.value;
  return !changed.hasSyntaxErrors && deepEqual(withoutEntries(before), withoutEntries(after));
}

function withoutEntries(document: Json | undefined): Json | undefined {
  if (!isJsonObject(document) || !isJsonObject(document.spec)) return document;
  const { [field]: _, ...spec } = document.spec;
  return { ...document, spec };
}
