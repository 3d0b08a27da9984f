import type { Json, JsonObject } from '#util/json.ts';
import { atom } from './cel/cel-context.ts';
import { type Jsonata, joined, quoted, withDefault } from './cel/jsonata.ts';
import { textType } from './cel/value-type.ts';

/** A literal, or an expression, of a text in a template. */
export type Part = string | Jsonata;

/** `${ expression }` */
export function expressionText(text: string): string {
  return `\${ ${text} }`;
}

/** The value of a template that consists of these parts. */
export function templateText(parts: readonly Part[]): Json {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== 'string')
    return expressionText(only.presence === 'zero' ? withDefault(only, '0') : only.text);
  if (parts.every((part) => typeof part === 'string')) return literalText(parts.join(''));
  const literals = parts.filter((part) => typeof part === 'string').join('');
  return needsOneExpression(parts, literals) ? asOne(parts) : asText(parts);
}

/** White space around an expression is not text, and a text has no Handlebars beside expressions. */
function needsOneExpression(parts: readonly Part[], literals: string): boolean {
  const expressions = parts.filter((part) => typeof part !== 'string');
  return literals.includes('{{') || (expressions.length === 1 && literals.trim() === '');
}

function asOne(parts: readonly Part[]): string {
  return expressionText(joinedParts(parts).text);
}

/** The parts as one expression. */
export function joinedParts(parts: readonly Part[]): Jsonata {
  return joined(
    parts.map((part) => (typeof part === 'string' ? atom(quoted(part), textType, 'always') : part)),
  );
}

function asText(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return escapedText(part);
      const own = part.uncast ?? part;
      return expressionText(own.presence === 'zero' ? withDefault(own, '0') : own.text);
    })
    .join('');
}

export function escapedText(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** A text with marks of expressions is kept as it is. */
export function literalText(text: string): Json {
  return /\$\{|\{\{/.test(text) ? ({ $literal: text } as JsonObject) : text;
}
