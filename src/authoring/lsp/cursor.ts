import {
  expressionAt,
  type LeafRange,
  nameAt,
  type WrittenExpression,
  type WrittenName,
} from '#compile';
import { nodeAtSteps, placeAt, readBoundedDocuments, type YamlNode } from '#definition';
import { documentAt, documentRange, type ParsedText } from './parsed-text.ts';

/** What is written at an offset outside of expressions. Offsets of the word count in the text. */
export type YamlCursor = Word &
  (
    | {
        readonly at: 'key';
        /** Path of the map. */
        readonly container: readonly string[];
        /** Keys before the offset. */
        readonly siblings: readonly string[];
        readonly isFlow: boolean;
      }
    | { readonly at: 'value'; readonly steps: readonly string[] }
  );

interface Word {
  readonly start: number;
  readonly end: number;
}

/** A name of an expression at an offset. */
export interface ExpressionCursor {
  /** Path of the leaf. */
  readonly steps: readonly string[];
  readonly expression: WrittenExpression;
  readonly name: WrittenName;
}

/**
 * The key or value that can be written at an offset. Only the text before the offset decides, completed by a placeholder: what follows
 * may be broken while the author writes. Undefined: inside a text or a comment.
 */
export function yamlCursor(text: string, offset: number): YamlCursor | undefined {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const line = text.slice(lineStart, offset);
  if (/(?:^|\s)#/.test(line.replaceAll(/"[^"]*"|'[^']*'/g, ''))) return undefined;
  const written = /(?:[\w$][\w.$/-]*)?$/.exec(line)?.[0] ?? '';
  const start = offset - written.length;
  const end = offset + (/^[\w.$/-]*/.exec(text.slice(offset))?.[0].length ?? 0);
  const isBlockKey = /^\s*(?:- +)*$/.test(text.slice(lineStart, start));
  const probe = probeAt(text, start, isBlockKey ? `${placeholder}:` : placeholder);
  if (probe === undefined) return undefined;
  const { place, tree } = probe;
  if (place.at === 'value') {
    const isWhole = place.node?.kind === 'scalar' && place.node.text === placeholder;
    return isWhole && !isBlockKey ? { at: 'value', steps: place.steps, start, end } : undefined;
  }
  // Directly after a colon the placeholder would be a part of the key.
  if (place.steps.at(-1) !== placeholder) return undefined;
  const container = place.steps.slice(0, -1);
  const map = nodeAtSteps(tree, container);
  if (map?.kind !== 'map') return undefined;
  const siblings = map.entries.map(({ key }) => key).filter((key) => key !== placeholder);
  return { at: 'key', container, siblings, isFlow: map.isFlow, start, end };
}

const placeholder = 'x';

/** Parses the document up to an offset, and finds what stands there. */
function probeAt(text: string, offset: number, inserted: string) {
  const { start } = documentRange(text, offset);
  const before = text.slice(start, offset);
  const quote = /["']$/.exec(before)?.[0] ?? '';
  const tree = readBoundedDocuments(before + inserted + quote, '', 'definition')
    .documents.at(-1)
    ?.tree();
  const place = tree && placeAt(tree, before.length + 1);
  return place && { place, tree };
}

/** The name at an offset inside of an expression, with the path of the leaf. */
export function expressionCursor(parsed: ParsedText, offset: number): ExpressionCursor | undefined {
  const found = expressionName(parsed, offset);
  if (found === undefined) return undefined;
  const { text } = parsed;
  const { language, start } = found.expression;
  const mark = language === 'jsonata' ? '${' : '{{';
  const probe = probeAt(text, text.lastIndexOf(mark, start), placeholder);
  return probe && { ...found, steps: probe.place.steps };
}

/** The name at an offset inside of an expression. */
export function expressionName(
  parsed: ParsedText,
  offset: number,
): Omit<ExpressionCursor, 'steps'> | undefined {
  const leaf = leafAt(parsed, offset);
  const expression = expressionAt(parsed.text, offset, leaf);
  const name = expression && nameAt(parsed.text, offset, { expression, leaf });
  return expression && name && { expression, name };
}

/** The name at an offset inside of code, `$( … )`, with the path of the leaf. Whether the field is code, its kind decides. */
export function codeCursor(parsed: ParsedText, offset: number): ExpressionCursor | undefined {
  const { text } = parsed;
  const leaf = leafAt(parsed, offset);
  let mark = text.indexOf('$(', leaf.start);
  let end = endOfCode(text, mark + 2, leaf.end);
  for (; mark >= 0 && end < offset; end = endOfCode(text, mark + 2, leaf.end))
    mark = text.indexOf('$(', end);
  if (mark < 0 || mark + 2 > offset) return undefined;
  const expression: WrittenExpression = { language: 'jsonata', start: mark + 2, end };
  const name = nameAt(text, offset, { expression, leaf });
  const probe = name && probeAt(text, mark, placeholder);
  return probe && { name, expression, steps: probe.place.steps };
}

/** The offset of the bracket that closes code, or the end of the leaf. */
function endOfCode(text: string, from: number, limit: number): number {
  let depth = 0;
  let quote: string | undefined;
  for (let at = from; at < limit; at++) {
    const char = text[at] ?? '';
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
    } else if (char === '"' || char === "'" || char === '`') quote = char;
    else if (char === '(') depth += 1;
    else if (char === ')' && depth-- === 0) return at;
  }
  return limit;
}

/** Whether an offset is inside of an expression: there are no keys and values. */
export function isInExpression(parsed: ParsedText, offset: number): boolean {
  return expressionAt(parsed.text, offset, leafAt(parsed, offset)) !== undefined;
}

/** The text that may be one leaf: a block or a text of several lines as the parser understands it, else the line. */
function leafAt(parsed: ParsedText, offset: number): LeafRange {
  const { text } = parsed;
  const line = {
    start: text.lastIndexOf('\n', offset - 1) + 1,
    end: indexOrEnd(text, '\n', offset),
  };
  const tree = documentAt(parsed, offset)?.tree;
  const node = tree && placeAt(tree, offset)?.node;
  return node !== undefined && spansLines(node, text) ? node : line;
}

function spansLines(node: YamlNode, text: string): boolean {
  return node.kind === 'scalar' && text.slice(node.start, node.end).trimEnd().includes('\n');
}

function indexOrEnd(text: string, mark: string, from: number): number {
  const index = text.indexOf(mark, from);
  return index < 0 ? text.length : index;
}
