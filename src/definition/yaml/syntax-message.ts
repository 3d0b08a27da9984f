import type { YAMLError } from 'yaml';
import type { CutExpression } from './cut-expression.ts';

/** What a syntax error says to the user. */
export interface SyntaxMessage {
  readonly message: string;
  readonly hint?: string | undefined;
}

/** What is told of an error of the parser. */
export type ParserError = Pick<YAMLError, 'code' | 'message' | 'pos'>;

/** Our words for an error of the parser. `text` is what was parsed. */
export function syntaxMessage(error: ParserError, text: string): SyntaxMessage {
  const source = text.slice(error.pos[0], error.pos[1]);
  switch (error.code) {
    case 'DUPLICATE_KEY':
      return { message: `Field "${keyAt(text, error.pos[0])}" is there twice` };
    case 'TAB_AS_INDENT':
      return { message: 'Expected spaces as indentation, found a tab' };
    case 'BLOCK_AS_IMPLICIT_KEY':
      return {
        message: 'A plain value cannot contain ": "',
        hint: 'Quote the value, or check the indentation of the lines below',
      };
    case 'MULTILINE_IMPLICIT_KEY':
      return {
        message: 'Expected a field on a line of its own ("name: value")',
        hint: 'Check for a missing ":" and for the indentation of the lines around it',
      };
    case 'BAD_SCALAR_START':
      return {
        message: `A plain value cannot start with "${source.charAt(0)}"`,
        hint: 'Quote the value',
      };
    case 'BAD_DQ_ESCAPE':
      return {
        message: `Unknown escape "${text.slice(error.pos[0], error.pos[0] + 2)}" in a double-quoted text`,
        hint: 'Write "\\\\" for a backslash, or use single quotes',
      };
    case 'BAD_INDENT':
      return badIndent(error.message);
    case 'UNEXPECTED_TOKEN':
      return unexpected(error, source, text);
    case 'RESOURCE_EXHAUSTION':
      return { message: 'The document is nested too deeply' };
    default:
      return { message: tidy(error.message) };
  }
}

function badIndent(message: string): SyntaxMessage {
  const hint = 'Check the indentation, and that every bracket and quote before it is closed';
  const unclosed = /^Flow (\w+) .* end with a (.)$/.exec(message);
  return unclosed === null
    ? { message: tidy(message), hint }
    : { message: `Expected "${unclosed[2]}" at the end of the list or map in brackets`, hint };
}

function unexpected(error: ParserError, source: string, text: string): SyntaxMessage {
  if (error.message.startsWith('Unexpected block-seq-ind')) {
    return {
      message: 'A list cannot begin on the line of its field',
      hint: 'Put "- " on the next line',
    };
  }
  const shown = source.split('\n')[0]?.slice(0, 40) ?? '';
  const afterQuote = /["']/.test(lastVisible(text, error.pos[0]));
  return {
    message: shown === '' ? tidy(error.message) : `Unexpected "${shown}"`,
    hint: afterQuote
      ? 'The quoted text before it ends there: use the other kind of quotes around it, or a ">-" block'
      : undefined,
  };
}

/** What to say about an expression that YAML took apart. */
export function cutMessage({ by }: CutExpression): SyntaxMessage {
  switch (by) {
    case ': ':
      return {
        message: 'YAML cuts this expression at ": ", which a plain value cannot contain',
        hint: 'Put the whole value in quotes, or into a ">-" block on the lines below',
      };
    case ' #':
      return {
        message: 'YAML cuts this expression at " #", where a comment begins',
        hint: 'Put the whole value in quotes, or into a ">-" block on the lines below',
      };
    case 'brackets':
      return {
        message:
          'YAML takes the braces of this expression for its own: inside "{ }" and "[ ]" it must be quoted',
        hint: 'Put the whole value in quotes',
      };
    case 'quotes':
      return {
        message: 'The quotes around this expression end inside it',
        hint: 'Use the other kind of quotes around the value, or put it into a ">-" block on the lines below',
      };
  }
}

/** The last character before an offset that is no white space; empty when there is none near. */
function lastVisible(text: string, offset: number): string {
  return text
    .slice(Math.max(0, offset - 200), offset)
    .trimEnd()
    .slice(-1);
}

/** The parser's text without position and final period. */
function tidy(message: string): string {
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
