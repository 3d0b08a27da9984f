/** How much a JSON text may cost. */
export interface JsonLimits {
  /** Shorter texts are not scanned, in UTF-16 units. */
  readonly fromLength: number;
  /** Of the parsed value, in bytes: see {@link excessOf}. */
  readonly maxCost: number;
  /** Of maps and lists inside each other. */
  readonly maxDepth: number;
}

/** An API server accepts objects of 10,000 levels. Lists and events of a watch have more around them. */
export const mostServerLevels = 10_010;

/** About what V8 needs beside the characters: for a map or list, for a field of a map, for a further item. */
const cost = { container: 64, field: 32, item: 16 } as const;

const quote = 34;
const comma = 44;
const colon = 58;
const backslash = 92;

/**
 * Why a text must not be parsed: 3 MB of `{},{}` become 60 MB. Undefined: it may be. Before the parsing, in one iterative scan
 * without memory; whether the text is JSON is not checked. Pure.
 */
export function excessOf(text: string, limits: JsonLimits): 'cost' | 'depth' | undefined {
  const { length } = text;
  if (length < limits.fromLength) return undefined;
  let left = limits.maxCost - length;
  let depth = 0;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === comma) left -= cost.item;
    else if (code === colon) left -= cost.field;
    // `[` and `{`, `]` and `}` differ in one bit.
    else if ((code | 32) === 123) {
      left -= cost.container;
      depth += 1;
      if (depth > limits.maxDepth) return 'depth';
      if (left < 0) return 'cost';
    } else if ((code | 32) === 125) depth -= 1;
  }
  return left < 0 ? 'cost' : undefined;
}

/** Index of the quotation mark that ends the string. */
export function endOfString(text: string, start: number): number {
  const { length } = text;
  let at = start + 1;
  for (; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) break;
    if (code === backslash) at += 1;
  }
  return at;
}
