/**
 * JSON with exact integers. JavaScript rounds integers of 2^53 or more; here they are read as `bigint` and printed with
 * all digits, as the API server does. As a `bigint`, arithmetic cannot round them in silence.
 */
import { parseMarked } from './deep-json.ts';
import type { Json } from './json.ts';

/** A number of 16 digits or more outside of a text; almost no object has one, and the test takes 4 % of the parsing. */
const longNumber = /[:,[\s]-?[1-9]\d{15}/;
const onlyLongNumber = /^-?[1-9]\d{15}/;

const int64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/**
 * Parses JSON as the API server does: integers are exact up to 64 bits, larger ones are floating-point numbers.
 * @throws SyntaxError
 */
export function parseJson(text: string): Json {
  if (!longNumber.test(text) && !onlyLongNumber.test(text)) return JSON.parse(text);
  try {
    return (JSON.parse as Parse)(text, exactInteger);
  } catch (error) {
    // Revivers are recursive, and values can be nested deeper than the stack.
    if (error instanceof RangeError) return parseMarked(text, integerOf);
    throw error;
  }
}

/** The integer of a text, without a loss of digits; undefined if it needs more than 64 bits. */
export function integerOf(digits: string): number | bigint | undefined {
  const number = Number(digits);
  if (Number.isSafeInteger(number)) return number;
  const exact = BigInt(digits);
  if (exact < int64.least || exact > int64.most) return undefined;
  printBigIntegers();
  return exact;
}

/** TypeScript lacks the source of a value, which engines since 2023 have. */
type Parse = (text: string, revive: typeof exactInteger) => Json;

function exactInteger(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const { source = '' } = context ?? {};
  return /^-?\d+$/.test(source) ? (integerOf(source) ?? value) : value;
}

/**
 * Lets `JSON.stringify` print a `bigint`, which throws otherwise. Done when the first one is created, so that no place
 * that prints an object needs to know of them, and a process that never has one is unchanged. Call it where values come
 * from another realm, such as a worker.
 */
export function printBigIntegers(): void {
  if (Object.hasOwn(BigInt.prototype, 'toJSON')) return;
  const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown };
  Object.defineProperty(BigInt.prototype, 'toJSON', {
    configurable: true,
    value(this: bigint) {
      const text = this.toString();
      return rawJSON === undefined ? Number(text) : rawJSON(text);
    },
  });
}
