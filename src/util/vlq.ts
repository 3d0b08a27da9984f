const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const bitsOfDigit = 5;
const hasMore = 1 << bitsOfDigit;
/** Larger numbers are no positions, and would not fit the arithmetic of 32 bits. */
const maxBits = 25;

/** Encodes integers as base64 VLQ, the format of source maps: small ones take one character each. */
export function encodeVlq(numbers: readonly number[]): string {
  return numbers.map(encodeNumber).join('');
}

function encodeNumber(number: number): string {
  let text = '';
  let rest = number < 0 ? -number * 2 + 1 : number * 2;
  do {
    const digit = rest & (hasMore - 1);
    rest >>>= bitsOfDigit;
    text += digits.charAt(rest > 0 ? digit | hasMore : digit);
  } while (rest > 0);
  return text;
}

/** Decodes a text of {@link encodeVlq}. Undefined: it is none. */
export function decodeVlq(text: string): readonly number[] | undefined {
  const numbers: number[] = [];
  let bits = 0;
  let number = 0;
  for (const character of text) {
    const digit = digits.indexOf(character);
    if (digit < 0 || bits > maxBits) return undefined;
    number |= (digit & (hasMore - 1)) << bits;
    bits += bitsOfDigit;
    if ((digit & hasMore) !== 0) continue;
    numbers.push((number & 1) === 1 ? -(number >>> 1) : number >>> 1);
    bits = 0;
    number = 0;
  }
  return bits === 0 ? numbers : undefined;
}
