import { parseQuantity } from '../../util/quantity.ts';
import type { ScalarName, ScalarType } from '../schema/schema-type.ts';

/** A scalar as its field wants it; undefined when it does not fit. */
export function fitScalar(value: unknown, type: ScalarType): unknown {
  const { accepts } = type;
  if (accepts.includes('unknown')) return value;
  switch (typeof value) {
    case 'string':
      return fitText(value, type);
    case 'number':
      return fitNumber(value, type);
    case 'boolean':
      return accepts.includes('boolean') ? value : asText(value, type);
    default:
      return undefined;
  }
}

/** No number is a time, and none was meant as base64. */
function asText(value: number | boolean, { accepts, format }: ScalarType): string | undefined {
  return accepts.includes('string') && format === 'exact' ? String(value) : undefined;
}

function fitText(text: string, { accepts, builtIn, format }: ScalarType): unknown {
  if (format === 'quantity') return parseQuantity(text) === undefined ? undefined : text;
  if (accepts.includes('string')) {
    // A port or a count in digits is never a valid name or percentage, and text is all that Handlebars can give.
    const isIntOrString = builtIn && accepts.includes('integer');
    return (isIntOrString ? integerOf(text) : undefined) ?? text;
  }
  if (accepts.includes('integer')) {
    const integer = integerOf(text);
    if (integer !== undefined) return integer;
  }
  if (accepts.includes('number') && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) {
    const number = Number(text);
    if (Number.isFinite(number)) return number;
  }
  if (accepts.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return undefined;
}

function fitNumber(number: number, type: ScalarType): unknown {
  const { accepts } = type;
  if (accepts.includes('number')) return number;
  if (accepts.includes('integer') && Number.isInteger(number)) return number;
  return asText(number, type);
}

/** Exactly an integer, and one that a number holds exactly. */
function integerOf(text: string): number | undefined {
  if (!/^-?(0|[1-9]\d*)$/.test(text)) return undefined;
  const integer = Number(text);
  return Number.isSafeInteger(integer) ? integer : undefined;
}

const names: Readonly<Record<ScalarName, string>> = {
  string: 'a text',
  integer: 'an integer',
  number: 'a number',
  boolean: 'a boolean',
  unknown: 'a value',
};

/** What a scalar takes, for people: `an integer or a text`. */
export function scalarNames({ accepts, format }: ScalarType): string {
  if (format === 'quantity') return 'a quantity';
  if (format === 'time') return 'a time';
  return accepts.map((name) => names[name]).join(' or ');
}
