import type { ScalarName } from './schema/schema-type.ts';

interface ScalarTarget {
  readonly accepts: readonly ScalarName[];
  /** Of a field that the server decodes into Go structs. */
  readonly builtIn: boolean;
}

/** A scalar as its field wants it; undefined when it does not fit. */
export function fitScalar(value: unknown, target: ScalarTarget): unknown {
  if (target.accepts.includes('unknown')) return value;
  switch (typeof value) {
    case 'string':
      return fitText(value, target);
    case 'number':
      return fitNumber(value, target.accepts);
    case 'boolean':
      if (target.accepts.includes('boolean')) return value;
      return target.accepts.includes('string') ? String(value) : undefined;
    default:
      return undefined;
  }
}

function fitText(text: string, { accepts, builtIn }: ScalarTarget): unknown {
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

function fitNumber(number: number, accepts: readonly ScalarName[]): unknown {
  if (accepts.includes('number')) return number;
  if (accepts.includes('integer') && Number.isInteger(number)) return number;
  return accepts.includes('string') ? String(number) : undefined;
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

/** `an integer or a text`. */
export function scalarNames(accepts: readonly ScalarName[]): string {
  return accepts.map((name) => names[name]).join(' or ');
}
