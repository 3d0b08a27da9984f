import type { Json } from './json.ts';
import { endOfString } from './json-scan.ts';
import { setField } from './set-field.ts';
import { sha256Hex } from './sha256.ts';

const quote = 34;
const minus = 45;
const isDigit = (code: number) => code >= 48 && code <= 57;
const number = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const longInteger = /^-?\d{16,}$/;

/**
 * Parses JSON that is nested deeper than the stack, with exact integers. Iterative: integers are texts with a mark, which no text of the value
 * has, while the engine parses them.
 * @param text valid JSON
 * @param integerOf undefined: the number is no integer of 64 bits
 */
export function parseMarked(
  text: string,
  integerOf: (digits: string) => number | bigint | undefined,
): Json {
  // No text contains its own digest.
  const mark = sha256Hex(text);
  const value: Json = JSON.parse(withMarks(text, mark));
  const open: unknown[] = [value];
  while (open.length > 0) {
    const parent = open.pop() as Record<string, unknown>;
    for (const [name, part] of Object.entries(parent)) {
      if (typeof part === 'object' && part !== null) open.push(part);
      if (typeof part !== 'string' || !part.startsWith(mark)) continue;
      const digits = part.slice(mark.length);
      setField(parent, name, integerOf(digits) ?? Number(digits));
    }
  }
  return value;
}

/** The text with long integers as marked texts. */
function withMarks(text: string, mark: string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    if (code !== minus && !isDigit(code)) continue;
    number.lastIndex = at;
    const [found = ''] = number.exec(text) ?? [];
    if (longInteger.test(found)) {
      parts.push(text.slice(copied, at), `"${mark}${found}"`);
      copied = at + found.length;
    }
    at += Math.max(found.length - 1, 0);
  }
  return parts.join('') + text.slice(copied);
}
