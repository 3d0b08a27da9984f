/** Checks of arguments. Messages name the function and never contain a value, which may come from a Secret. */
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { ExpressionError } from '../evaluation-error.ts';
import { limits } from '../limits.ts';

/** A string that the function parses. @throws ExpressionError */
export function textArgument(name: string, value: unknown, which = 'the argument'): string {
  return textWithin(limits.parsedLength, { name, value, which });
}

/** A string that the function only copies or reads once, within the limit of strings. @throws ExpressionError */
export function longTextArgument(name: string, value: unknown, which = 'the argument'): string {
  return textWithin(limits.textLength, { name, value, which });
}

function textWithin(
  most: number,
  {
    name,
    value,
    which,
  }: { readonly name: string; readonly value: unknown; readonly which: string },
): string {
  if (typeof value !== 'string') throw wrongArgument(name, 'a string', value, which);
  if (value.length <= most) return value;
  const message = `Expected a string of at most ${most} characters for $${name}()`;
  throw new ExpressionError('limit-exceeded', message);
}

/** A string that the function only accepts below a limit of its own. @throws ExpressionError */
export function shortArgument(
  name: string,
  value: unknown,
  { most, which }: { readonly most: number; readonly which: string },
): string {
  const text = textArgument(name, value, which);
  if (text.length <= most) return text;
  const message = `Expected a string of at most ${most} characters as ${which} of $${name}()`;
  throw new ExpressionError('limit-exceeded', message);
}

/** A list; one value is a list of one, because JSONata unwraps these. A missing value is the empty list. */
export function listArgument(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** @throws ExpressionError */
export function mapArgument(name: string, value: unknown, which = 'the argument'): JsonObject {
  if (isJsonObject(value)) return value;
  throw wrongArgument(name, 'a map', value, which);
}

/** An integer from `least` to `most`. @throws ExpressionError */
export function integerArgument(
  name: string,
  value: unknown,
  { least, most, which }: { readonly least: number; readonly most: number; readonly which: string },
): number {
  const isValid =
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
  if (isValid) return value;
  throw invalidArgument(name, `an integer from ${least} to ${most}`, which);
}

/** Asserts the number of elements of a list that a function creates. @throws ExpressionError */
export function assertSequence(length: number): void {
  if (length <= limits.sequence) return;
  const message = `Expected a list of at most ${limits.sequence} elements`;
  throw new ExpressionError('limit-exceeded', message);
}

export function wrongArgument(
  name: string,
  expected: string,
  found: unknown,
  which = 'the argument',
): ExpressionError {
  return invalidArgument(name, expected, which, `, found ${kindOf(found)}`);
}

export function invalidArgument(
  name: string,
  expected: string,
  which = 'the argument',
  found = '',
): ExpressionError {
  const message = `Expected ${expected} as ${which} of $${name}()${found}`;
  return new ExpressionError('evaluation-failed', message);
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'no value';
  if (Array.isArray(value)) return 'a list';
  if (isJsonObject(value)) return 'an object';
  return `a ${typeof value === 'bigint' ? 'number' : typeof value}`;
}
