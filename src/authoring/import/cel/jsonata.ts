import type { SchemaType } from '#compile';
import { isJsonObject, type Json } from '#util/json.ts';
import { textType } from './value-type.ts';

/** How strongly an expression binds; a higher level needs fewer parentheses. */
export const level = {
  default: 10,
  choice: 20,
  or: 25,
  and: 30,
  comparison: 40,
  sum: 50,
  product: 60,
  sign: 70,
  path: 80,
} as const;

/** A JSONata expression and what is known about its value. */
export interface Jsonata {
  /** Empty: the root of expressions, whose fields are names. */
  readonly text: string;
  readonly level: number;
  readonly type: SchemaType;
  /** `zero`: an integer of a built-in kind that is missing when it is zero. */
  readonly presence: 'always' | 'maybe' | 'zero';
  /** For `string(x)`: `x`, for places that make texts of all values. */
  readonly uncast?: Jsonata;
  /** The value, if it is a literal. */
  readonly literal?: string | number | boolean;
  /** The values of a list that is written item by item. */
  readonly items?: readonly Jsonata[];
  /** A text that stands for the bytes of a hash. */
  readonly isHash?: boolean;
}

/** The expression as operand of an operator of this level. */
export function operand(value: Jsonata, above: number): string {
  return value.level >= above ? value.text : `(${value.text})`;
}

/** The expression with a default for a missing value. */
export function withDefault(value: Jsonata, fallback: string): string {
  return `${operand(value, level.path)} ?? ${fallback}`;
}

/** As {@link operand}; an integer that is missing when it is zero is `0`. */
export function numericOperand(value: Jsonata, above: number): string {
  return value.presence === 'zero' ? `(${withDefault(value, '0')})` : operand(value, above);
}

/** Texts, one after the other. */
export function joined(parts: readonly Jsonata[]): Jsonata {
  const text = parts
    .map((part, index) =>
      numericOperand(part.uncast ?? part, index === 0 ? level.sum : level.product),
    )
    .join(' & ');
  return { text, level: level.sum, type: textType, presence: 'always' };
}

export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A JSON value as an expression. */
export function literalExpression(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(literalExpression).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  return objectExpression(
    Object.entries(value).map(([key, each]) => [key, literalExpression(each)]),
  );
}

/** An object of keys and expressions. */
export function objectExpression(
  fields: readonly (readonly [key: string, text: string])[],
): string {
  if (fields.length === 0) return '{}';
  return `{ ${fields.map(([key, text]) => `${quoted(key)}: ${text}`).join(', ')} }`;
}

const words: ReadonlySet<string> = new Set([
  'and',
  'or',
  'in',
  'true',
  'false',
  'null',
  'function',
]);

/** A step of a path: a name, in backticks if it is no identifier. */
export function step(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && !words.has(name) ? name : `\`${name}\``;
}

const taken: ReadonlySet<string> = new Set([
  'item',
  'index',
  'child',
  'previous',
  'definition',
  'cluster',
  'self',
  // Variables of the conversions themselves.
  ...['all', 'more', 'each', 'at', 'left', 'right'],
]);

/** The JSONata variable for a variable of CEL. Names that have a meaning in definitions get a suffix. */
export function variable(name: string): string {
  return taken.has(name) ? `$${name}Value` : `$${name}`;
}

/** `function($x) { body }` */
export function lambda(parameters: readonly string[], body: string): string {
  return `function(${parameters.join(', ')}) { ${body} }`;
}
