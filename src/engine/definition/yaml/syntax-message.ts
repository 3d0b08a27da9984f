import type { YAMLError } from 'yaml';
import type { CutExpression } from './cut-expression.ts';

/** Message and hint of a syntax error. */
interface SyntaxMessage {
  readonly message: string;
  readonly hint?: string | undefined;
}

/** The parts of a parser error that are used. */
export type ParserError = Pick<YAMLError, 'code' | 'message' | 'pos'>;

/** Converts a parser error to a message. `text` is the parsed input. */
export function syntaxMessage(error: ParserError, text: string): SyntaxMessage {
  const source = text.slice(error.pos[0], error.pos[1]);
  switch (error.code) {
    case 'DUPLICATE_KEY':
      return { message: `Field "${keyAt(text, error.pos[0])}" is defined twice` };
    case 'TAB_AS_INDENT':
      return { message: 'Expected spaces for indentation, found a tab' };
    case 'BLOCK_AS_IMPLICIT_KEY':
      return {
        message: 'An unquoted value cannot contain ": "',
        hint: 'Quote the value, or check the indentation of the following lines',
      };
    case 'MULTILINE_IMPLICIT_KEY':
      return {
        message: 'Expected a field on a line of its own ("name: value")',
        hint: 'Check for a missing ":", and check the indentation of adjacent lines',
      };
    case 'BAD_SCALAR_START':
      return {
        message: `An unquoted value cannot start with "${source.charAt(0)}"`,
        hint: 'Quote the value',
      };
    case 'BAD_DQ_ESCAPE':
      return {
        message: `Unknown escape "${text.slice(error.pos[0], error.pos[0] + 2)}" in a double-quoted string`,
        hint: 'Write "\\\\" for a backslash, or use single quotes',
      };
    case 'BAD_INDENT':
      return badIndent(error.message);
    case 'UNEXPECTED_TOKEN':
      return unexpected(error, source, text);
    case 'RESOURCE_EXHAUSTION':
      return { message: 'The document is nested too deeply' };
    default:
      return { message: cleanMessage(error.message) };
  }
}

function badIndent(message: string): SyntaxMessage {
  const hint = 'Check the indentation, and that every bracket and quote before it is closed';
  const unclosed = /^Flow (\w+) .* end with a (.)$/.exec(message);
  return unclosed === null
    ? { message: cleanMessage(message), hint }
    : { message: `Expected "${unclosed[2]}" at the end of the list or map in brackets`, hint };
}

function unexpected(error: ParserError, source: string, text: string): SyntaxMessage {
  if (error.message.startsWith('Unexpected block-seq-ind')) {
    return {
      message: 'A list cannot start on the line of its field',
      hint: 'Put "- " on the next line',
    };
  }
  const shown = source.split('\n')[0]?.slice(0, 40) ?? '';
  const afterQuote = /["']/.test(lastVisible(text, error.pos[0]));
  return {
    message: shown === '' ? cleanMessage(error.message) : `Unexpected "${shown}"`,
    hint: afterQuote ? hintAfterQuote(shown) : hintAtBracket(error, source, text),
  };
}

/** A bracket directly after text, as in `{ here: spec.rules[].port }`. */
function hintAtBracket(error: ParserError, source: string, text: string): string | undefined {
  if (!source.startsWith('[')) return undefined;
  const before = /[\w.$/-]+$/.exec(text.slice(Math.max(0, error.pos[0] - 200), error.pos[0]))?.[0];
  if (before === undefined) return undefined;
  const rest = /^[^\s,{}]*/.exec(text.slice(error.pos[0]))?.[0] ?? '';
  return `Inside "{ }" and "[ ]", a text with brackets must be quoted: "${before}${rest}"`;
}

function hintAfterQuote(shown: string): string {
  if (/^[+&]\s/.test(shown))
    return 'The quoted string before it ends here. Write text and expression in one string: "nginx:${ spec.tag }"';
  return 'The quoted string before it ends here: use the other quote character around it, or a ">-" block';
}

/** The message for an expression that YAML syntax cuts. */
export function cutMessage({ by }: CutExpression): SyntaxMessage {
  switch (by) {
    case ': ':
      return {
        message: 'YAML ends this expression at ": ", which an unquoted value cannot contain',
        hint: 'Quote the whole value, or write it as a ">-" block on the next lines',
      };
    case ' #':
      return {
        message: 'YAML ends this expression at " #", which starts a comment',
        hint: 'Quote the whole value, or write it as a ">-" block on the next lines',
      };
    case 'brackets':
      return {
        message:
          'YAML parses the braces of this expression as a map: inside "{ }" and "[ ]" it must be quoted',
        hint: 'Quote the whole value',
      };
    case 'quotes':
      return {
        message: 'The quotes around this expression are closed inside it',
        hint: 'Use the other quote character around the value, or write it as a ">-" block on the next lines',
      };
  }
}

/** The last non-whitespace character before an offset; empty if there is none nearby. */
function lastVisible(text: string, offset: number): string {
  return text
    .slice(Math.max(0, offset - 200), offset)
    .trimEnd()
    .slice(-1);
}

/** The parser's message without position and final period. */
function cleanMessage(message: string): string {
  return (message.split(/ at line \d+/)[0] ?? message).replaceAll('"quote', 'quote');
}

function keyAt(text: string, offset: number): string {
  return (
    /^(?:"([^"\n]*)"|'([^'\n]*)'|([^:\n]*))/
      .exec(text.slice(offset))
      ?.slice(1)
      .find(Boolean)
      ?.trim() ?? ''
  );
}
