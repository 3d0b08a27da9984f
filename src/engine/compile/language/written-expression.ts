/** Expressions as an author is writing them, for editors: they need not be finished or valid. Offsets count in the text that is given. */
import { openingAt } from './leaf-text.ts';
import { scanExpression, type Token } from './tokens.ts';

/** An expression in a text. */
export interface WrittenExpression {
  readonly language: 'jsonata' | 'handlebars';
  /** Offsets of the part between the delimiters. */
  readonly start: number;
  readonly end: number;
}

/** A name in an expression. */
export interface WrittenName {
  /** As written, without back-quotes: `size`, `$hash`. Empty: no name is written at the offset. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** The names before it: `['spec']` for `size` in `spec.size`, `[]` for a first name. Undefined: it is a field of a computed value. */
  readonly base: readonly string[] | undefined;
  /** Whether a helper of Handlebars can be here. */
  readonly isHelper: boolean;
}

/** The part of a text in which an expression is searched: a scalar. */
export interface LeafRange {
  readonly start: number;
  readonly end: number;
}

/** The expression of a string leaf that contains an offset. */
export function expressionAt(
  text: string,
  offset: number,
  { start, end }: LeafRange,
): WrittenExpression | undefined {
  const marks = /\$\$\{|\\\{\{|\$\{|\{\{/g;
  marks.lastIndex = start;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const isHandlebars = mark[0] === '{{';
    const from = isHandlebars ? mark.index + 2 : openingAt(text, mark.index).from;
    if (from > offset || mark.index >= end) return undefined;
    if (mark[0].length === 3) continue; // escaped
    const to = isHandlebars ? endOfMustache(text, from, end) : endOfExpression(text, from, end);
    if (offset <= to)
      return { language: isHandlebars ? 'handlebars' : 'jsonata', start: from, end: to };
    marks.lastIndex = to;
  }
  return undefined;
}

function endOfMustache(text: string, from: number, limit: number): number {
  const end = text.indexOf('}}', from);
  return end < 0 || end > limit ? limit : end;
}

function endOfExpression(text: string, from: number, limit: number): number {
  const scan = scanExpression(text.slice(0, limit), from);
  return scan.kind === 'closed' ? scan.end : limit;
}

/** The name at an offset of an expression, or the place for one. Undefined: no name can be there, for example in a string. */
export function nameAt(
  text: string,
  offset: number,
  { expression, leaf }: { readonly expression: WrittenExpression; readonly leaf: LeafRange },
): WrittenName | undefined {
  const isHandlebars = expression.language === 'handlebars';
  const scan = scanExpression(text.slice(0, expression.end), expression.start);
  const isInOpenElement = scan.kind === 'open' && scan.what !== 'expression';
  if (isInOpenElement && offset > scan.offset) return undefined;
  const { tokens } = scan;
  const around = tokens.filter(({ start, end }) => start <= offset && offset <= end);
  const touched = around.find(isWord);
  if (touched === undefined && around.some((token) => cannotHoldName(token, offset)))
    return undefined;
  const before = tokens.filter(({ end }) => end <= (touched?.start ?? offset));
  const root = isHandlebars ? blockContext(text.slice(leaf.start, expression.start)) : [];
  const previous = before.at(-1)?.text;
  const isVariable = touched?.kind === 'variable';
  return {
    text: touched === undefined ? '' : nameOf(touched),
    start: touched?.start ?? offset,
    end: touched?.end ?? offset,
    base: isVariable ? [] : contextAfter(before, root),
    isHelper: isHandlebars && (previous === undefined || previous === '(' || previous === '#'),
  };
}

function isWord({ kind }: Token): boolean {
  return kind === 'name' || kind === 'variable';
}

/** Beside an operator a name can begin, beside a text or a number none can. */
function cannotHoldName({ kind, start, end }: Token, offset: number): boolean {
  return kind !== 'operator' || (start < offset && offset < end);
}

function nameOf({ text, kind }: Token): string {
  return kind === 'string' || text.startsWith('`') ? text.slice(1, -1) : text;
}

/** The path of the value that ends with the last token. Undefined: it is computed. */
function valueBefore(
  tokens: readonly Token[],
  root: readonly string[],
): readonly string[] | undefined {
  const last = tokens.at(-1);
  const rest = tokens.slice(0, -1);
  if (last === undefined) return undefined;
  if (last.text === ']') {
    const opener = openerOf(tokens, tokens.length - 1);
    return opener > 0 ? valueBefore(tokens.slice(0, opener), root) : undefined;
  }
  if (last.kind === 'variable' && last.text !== '$')
    return last.text === '$$' || last.text === '$self' ? [] : [last.text];
  if (last.text === 'this' && root.length > 0) return root;
  const base = contextAfter(rest, root);
  if (last.text === '$') return base;
  const isName = last.kind === 'name' || last.kind === 'string';
  return isName ? base && [...base, nameOf(last)] : undefined;
}

/** The path of the value whose field a name after these tokens is. */
function contextAfter(
  tokens: readonly Token[],
  root: readonly string[],
): readonly string[] | undefined {
  return tokens.at(-1)?.text === '.'
    ? valueBefore(tokens.slice(0, -1), root)
    : innerContext(tokens, root);
}

/** The path of the value whose fields the next first name means: in `[ ]`, `.( )` and `.{ }` that of the element. */
function innerContext(
  tokens: readonly Token[],
  root: readonly string[],
): readonly string[] | undefined {
  let closed = 0;
  for (let index = tokens.length - 1; index >= 0; index--) {
    const { text, kind } = tokens[index] as Token;
    if (kind !== 'operator') continue;
    if (')]}'.includes(text)) closed++;
    else if ('([{'.includes(text) && closed-- === 0) {
      const before = tokens.slice(0, index);
      const previous = before.at(-1);
      if (previous?.text === '.') return valueBefore(before.slice(0, -1), root);
      if (text === '[' && endsValue(previous)) return valueBefore(before, root);
      closed = 0;
    }
  }
  return root;
}

function endsValue(token: Token | undefined): boolean {
  return token !== undefined && (token.kind !== 'operator' || ')]'.includes(token.text));
}

/** Index of the bracket that the one at an index closes; -1: there is none. */
function openerOf(tokens: readonly Token[], closer: number): number {
  let depth = 0;
  for (let index = closer; index >= 0; index--) {
    const { text, kind } = tokens[index] as Token;
    if (kind !== 'operator') continue;
    if (')]}'.includes(text)) depth++;
    else if ('([{'.includes(text) && --depth === 0) return index;
  }
  return -1;
}

/** The path of the element in the blocks `each` and `with` that are open at the end of a template. */
function blockContext(template: string): readonly string[] {
  const open: (readonly string[])[] = [[]];
  for (const [, sign, name, path = ''] of template.matchAll(
    /\{\{~?([#/])(\w+)\s*([\w.-]*)[^}]*\}\}/g,
  )) {
    if (sign === '/') {
      if (open.length > 1) open.pop();
      continue;
    }
    const context = open.at(-1) ?? [];
    const isEntered = name === 'each' || name === 'with';
    open.push(isEntered ? [...context, ...path.split('.')] : context);
  }
  return open.at(-1) ?? [];
}
