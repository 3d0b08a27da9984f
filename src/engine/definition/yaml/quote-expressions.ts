import { deepEqual } from '#util/deep-equal.ts';
import type { Diagnostic } from '../finding.ts';
import { type CutExpression, isInFlow, openQuoteIn } from './cut-expression.ts';
import { type QuotedValue, quotedValue, type TextChange } from './quoted-value.ts';
import { findCuts, findFirstCut, readBoundedDocuments, readDocuments } from './read-documents.ts';
import type { YamlReading } from './scalar-value.ts';

/** Characters that are parsed again, once for each value. */
const maxRereadCharacters = 20_000_000;

/**
 * Puts quotes around the keys and values whose expressions YAML syntax cuts. All else stays as it is, also comments and ends of lines. A text
 * without such a value is returned unchanged, and so is one that has other syntax errors: its values would be guesses.
 */
export function quoteExpressions(text: string, reading: YamlReading): string {
  let state: QuotedText | undefined = { text, values: [] };
  for (let count = 0; count * text.length < maxRereadCharacters; count++) {
    const cut = findFirstCut(state.text, reading);
    if (cut === undefined) break;
    state = withQuotes(state, cut);
    if (state === undefined) return text;
  }
  // From the last one on, so that the offsets of the others stay.
  for (const template of wrongTemplates(state.text, reading).toReversed()) {
    state = withQuotes(state, template);
    if (state === undefined) return text;
  }
  if (state.text === text || !keepsStructure(state, reading)) return text;
  return readDocuments(state.text, '', reading).syntaxErrors.length === 0 ? state.text : text;
}

/** A text with quotes that were added. The offsets of the values are those in the text. */
interface QuotedText {
  readonly text: string;
  readonly values: readonly QuotedValue[];
}

/** Undefined: the value cannot be quoted, or is part of one that was quoted. */
function withQuotes({ text, values }: QuotedText, cut: CutExpression): QuotedText | undefined {
  const value = quotedValue(text, cut);
  if (value === undefined) return undefined;
  if (values.some(({ start, end }) => start < value.end && value.start < end)) return undefined;
  const end = value.start + value.text.length;
  const by = end - value.end;
  const moved = values.map((other) =>
    other.start < value.start ? other : { ...other, start: other.start + by, end: other.end + by },
  );
  return { text: changed(text, value), values: [...moved, { ...value, end }] };
}

/**
 * Whether keys are still keys and values are still values: with a word in place of each expression, the text means the same with the quotes
 * and without them.
 */
function keepsStructure({ text, values }: QuotedText, reading: YamlReading): boolean {
  const sorted = values.toSorted((a, b) => b.start - a.start);
  const [before, after] = (['bare', 'quoted'] as const).map((form) => {
    const changes = sorted.map(({ start, end, ...value }) => ({ start, end, text: value[form] }));
    const { documents, syntaxErrors } = readDocuments(changes.reduce(changed, text), '', reading);
    const found = documents.map(({ value }) => value);
    return { found, errors: syntaxErrors.map(({ message }) => message) };
  });
  return deepEqual(before, after);
}

function changed(text: string, { start, end, text: value }: TextChange): string {
  return text.slice(0, start) + value + text.slice(end);
}

/**
 * The change that quotes the key or value of the cut expression at an offset, which may be that of the second brace of `{{`. Undefined: there is
 * none, or where the value ends is a guess.
 */
export function quoteExpressionAt(
  text: string,
  offset: number,
  reading: YamlReading,
): TextChange | undefined {
  const isNear = ({ start }: CutExpression) => start === offset || start === offset - 1;
  const cut = [...findCuts(text, reading), ...wrongTemplates(text, reading)].find(isNear);
  const quoted = cut && withQuotes({ text, values: [] }, cut);
  if (cut === undefined || quoted === undefined || !keepsStructure(quoted, reading))
    return undefined;
  const value = quotedValue(text, cut);
  return value && { start: value.start, end: value.end, text: value.text };
}

/** Those on lines with an error: elsewhere they are part of a text. */
function wrongTemplates(text: string, reading: YamlReading): readonly CutExpression[] {
  if (!text.includes('{{')) return [];
  const { syntaxErrors } = readBoundedDocuments(text, '', reading);
  const wrong = new Set(syntaxErrors.map(({ line }) => line - 1));
  let start = 0;
  return text.split('\n').flatMap((line, number) => {
    const lineStart = start;
    start += line.length + 1;
    return wrong.has(number) ? templatesIn(line, lineStart) : [];
  });
}

/** Templates of Handlebars that begin a value without quotes: YAML reads them as a map in a map. */
function templatesIn(line: string, lineStart: number): readonly CutExpression[] {
  return [...line.matchAll(/(?<=[:,[-][ \t]+|\[)\{\{(?!\{)/g)].flatMap(({ index }) => {
    const before = line.slice(0, index);
    const close = line.indexOf('}}', index);
    const isText = openQuoteIn(before) !== undefined || /(?:^|[ \t])#/.test(before);
    if (close < 0 || isText) return [];
    const by = isInFlow(before) ? 'brackets' : ': ';
    return [{ start: lineStart + index, end: lineStart + close + 2, by }];
  });
}

/** A file as `homeostat fmt` writes it. */
export interface FormattedSource {
  /** The same text if nothing needs a change. */
  readonly text: string;
  /** Those that remain. */
  readonly syntaxErrors: readonly Diagnostic[];
}

/** Blanks only before the key: from each of many empty lines, `\s` would search through all that follow. */
const ownVersion = /^\ufeff?[ \t]*["']?apiVersion["']?\s*:\s*["']?homeostat\.dev\//m;

const anyVersion = /^\ufeff?[ \t]*["']?apiVersion["']?\s*:/m;

/** Quotes the keys and values of a file of definitions, tests, samples or other objects. JSON is only read. */
export function formatSource(source: string, file: string): FormattedSource {
  // Other objects may have texts such as `${HOME` of a shell.
  const reading = ownVersion.test(source) ? 'definition' : 'kubectl';
  // A part of a definition has no version.
  const quoting = anyVersion.test(source) ? reading : 'definition';
  const text = file.endsWith('.json') ? source : quoteExpressions(source, quoting);
  const isCut = quoting !== reading && findFirstCut(text, quoting) !== undefined;
  return {
    text,
    syntaxErrors: readBoundedDocuments(text, file, isCut ? quoting : reading).syntaxErrors,
  };
}
