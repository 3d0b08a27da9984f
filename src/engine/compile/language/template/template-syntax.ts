import Handlebars from 'handlebars';
import type { LeafProblem } from '../leaf.ts';
import { limits } from '../limits.ts';
import { helperTable } from './template-helpers.ts';

/** The supported part of the Handlebars syntax tree. */
export type Program = hbs.AST.Program;

export type TemplateStatement =
  | hbs.AST.MustacheStatement
  | hbs.AST.BlockStatement
  | hbs.AST.ContentStatement
  | hbs.AST.CommentStatement;

export type TemplateExpression =
  | hbs.AST.PathExpression
  | hbs.AST.SubExpression
  | hbs.AST.StringLiteral
  | hbs.AST.NumberLiteral
  | hbs.AST.BooleanLiteral
  | hbs.AST.UndefinedLiteral
  | hbs.AST.NullLiteral;

/** Names of the supported blocks. */
export const blockNames = ['if', 'unless', 'each', 'with'] as const;

export type BlockName = (typeof blockNames)[number];

/** `this.x`, `./x`, `../x`: never a helper, a block parameter or a variable. */
export function isScoped(path: hbs.AST.PathExpression): boolean {
  return /^\.|^this\b/.test(path.original);
}

/** The name of the helper or block that a path may refer to. */
export function simpleName(path: TemplateExpression): string | undefined {
  if (path.type !== 'PathExpression') return undefined;
  const expression = path as hbs.AST.PathExpression;
  const [only] = expression.parts;
  const isSimple =
    expression.parts.length === 1 &&
    !expression.data &&
    expression.depth === 0 &&
    !isScoped(expression);
  return isSimple ? only : undefined;
}

/** The offset of a node in the template. */
export function offsetOf(text: string, { line, column }: hbs.AST.Position): number {
  return lineStart(text, line) + column;
}

function lineStart(text: string, line: number): number {
  let start = 0;
  for (let current = 1; current < line; current++) {
    const next = text.indexOf('\n', start);
    if (next < 0) return start;
    start = next + 1;
  }
  return start;
}

/** Parses a template from source. */
export function parseProgram(text: string): Program | LeafProblem {
  const tooDeep = tooDeepAt(text);
  if (tooDeep !== undefined) {
    const message = `Expected blocks and brackets at most ${limits.sourceDepth} deep`;
    return { severity: 'error', code: 'template-syntax', message, offset: tooDeep };
  }
  try {
    return Handlebars.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    return {
      severity: 'error',
      code: 'template-syntax',
      ...(/got 'EOF'/.test(message)
        ? { message: unclosed, offset: openBlockAt(text) }
        : { message: reasonOf(message), offset: failureOffset(text, error, message) }),
      ...hintFor(text),
    };
  }
}

function hintFor(text: string): { readonly hint?: string } {
  if (/\{\{~?\s*\./.test(text)) return { hint: helmHint };
  const [, value = '', name = '', args = ''] = filter.exec(text) ?? [];
  if (helperTable.has(name)) {
    const inOrder = name === 'indent' ? [args, value] : [value, args];
    const call = [name, ...inOrder.filter((each) => each !== '')].join(' ');
    return { hint: `Write "{{${call}}}": the name of a helper comes first` };
  }
  return /\{\{[^}]*[\w\s](?:[=!]==?|&&|\|\||[<>]=?)[\s\w"']/.test(text)
    ? { hint: operatorHint }
    : {};
}

/** `{{ value | helper arguments }}`. */
const filter = /\{\{~?\s*([\w.]+)\s*\|\s*(\w+)\s*([^|}]*?)\s*~?\}\}/;
const operatorHint = 'Operators are helpers: "{{#if (eq spec.size 1)}}", "{{#if (and a b)}}"';
const helmHint = 'Write "{{ spec.size }}", without a dot before the first name';
const unclosed = 'Expected the end of a block, found the end of the template';

/**
 * Matches the start of blocks (without `{{^}}`) and of block ends, and whole comments, which may contain blocks.
 * After a single backslash Handlebars treats them as text.
 */
const blockMark = /(?<!(?<!\\)\\)\{\{~?(?:!--[\s\S]*?--~?\}\}|![^}]*\}\}|#|\/|\^(?!\s*~?\}\}))/g;

/** Offset of the innermost block that is not closed. */
function openBlockAt(text: string): number {
  const open: number[] = [];
  for (const { 0: mark, index } of text.matchAll(blockMark)) {
    if (mark.endsWith('/')) open.pop();
    if (mark.endsWith('#') || mark.endsWith('^')) open.push(index);
  }
  return open.at(-1) ?? text.length;
}

function reasonOf(message: string): string {
  const mismatch = /^(\S+) doesn't match (\S+) -/.exec(message);
  if (mismatch !== null) {
    return `Expected the end of the block "${mismatch[1]}", found the end of "${mismatch[2]}"`;
  }
  return 'Expected a valid Handlebars template';
}

/** The parser reports positions by line and column, or by an arrow under an excerpt. */
function failureOffset(text: string, error: unknown, message: string): number {
  const place = error as { readonly lineNumber?: unknown; readonly column?: unknown };
  if (typeof place.lineNumber === 'number' && typeof place.column === 'number') {
    return offsetOf(text, { line: place.lineNumber, column: place.column });
  }
  const drawn = /^Parse error on line (\d+):\n(.*)\n(-*)\^/.exec(message);
  if (drawn === null) return 0;
  const [, line = '1', excerpt = '', arrow = ''] = drawn;
  const before = excerpt.slice(0, arrow.length).replace(/^\.\.\./, '');
  const start = lineStart(text, Number(line));
  const next = text.indexOf('\n', start);
  const end = next < 0 ? text.length : next;
  for (let offset = start; offset <= end; offset++) {
    if (endsWithoutBreaks(text, offset, before)) return offset;
  }
  return start;
}

/** Excerpts of the parser hold no line breaks, and few characters. */
function endsWithoutBreaks(text: string, offset: number, ending: string): boolean {
  return text
    .slice(Math.max(0, offset - 60), offset)
    .replaceAll('\n', '')
    .endsWith(ending);
}

/** Where blocks or subexpressions are nested too deeply for functions that recurse; undefined: nowhere. */
function tooDeepAt(text: string): number | undefined {
  let blocks = 0;
  for (const match of text.matchAll(/\{\{(?:~?\s*([#/])|[^}]*)/g)) {
    if (match[1] === '#') blocks++;
    if (match[1] === '/') blocks--;
    if (blocks > limits.sourceDepth || deepestBracket(match[0]) > limits.sourceDepth)
      return match.index;
  }
  return undefined;
}

function deepestBracket(mustache: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of mustache) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
