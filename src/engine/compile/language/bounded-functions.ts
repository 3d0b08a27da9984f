import { encodeBase64 } from '#util/base64.ts';
/**
 * Prevents JSONata's built-in functions from blocking or aborting the process, by replacements and argument guards.
 * Results equal the originals within the limits; beyond them the functions throw.
 */
import { canonicalJson } from '#util/canonical-json.ts';
import { ExpressionError } from './evaluation-error.ts';
import { limits } from './limits.ts';
import type { Meter } from './meter.ts';
import { assertTextLength, boundedText, plainResult, roundedNumber } from './plain-json.ts';
import { type CallFocus, meterOf } from './runtime-scope.ts';
import { decodeBase64 } from './text-functions.ts';

/** Replaces a built-in function. JSONata has checked the arguments against its signature and filled in the context. */
type Replacement = (focus: CallFocus, args: readonly unknown[]) => unknown;

/** A match of a regular expression, or of a function used as one. */
interface Match {
  readonly match: string;
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
  readonly next: () => unknown;
}

type Matcher = (text: string) => unknown;

/** By name. */
export const replacements: Readonly<Record<string, Replacement>> = {
  string: (focus, args) => toText(args, meterOf(focus)),
  clone: (focus, [value]) => plainResult(value, meterOf(focus)),
  pad: (_, args) => pad(args),
  join: (_, args) => join(args),
  // The originals truncate characters to bytes and need a global that browsers do not have.
  base64encode: (_, [text]) => (typeof text === 'string' ? encodeBase64(text) : undefined),
  base64decode: (_, [text]) => (typeof text === 'string' ? decodeBase64(text) : undefined),
  type: (_, [value]) => typeOf(value),
  distinct,
  sort,
  match,
  replace,
  split,
};

/** Rejects arguments that the originals cannot handle, by function name. @throws ExpressionError */
export const guards: Readonly<Record<string, (args: readonly unknown[]) => void>> = {
  toMillis([text, picture]) {
    assertShort('toMillis', text, picture);
    if (typeof text === 'string' && typeof picture === 'string') assertSeparated(text, picture);
  },
  fromMillis([, picture, zone]) {
    assertShort('fromMillis', picture, zone);
    if (typeof picture === 'string') assertNarrow('fromMillis', picture);
  },
  parseInteger(args) {
    assertShort('parseInteger', ...args);
  },
  formatInteger([number, picture]) {
    assertShort('formatInteger', picture);
    assertModerate('formatInteger', number);
  },
  formatNumber([, picture, options]) {
    assertShort('formatNumber', picture);
    // The original does not terminate if an option is an empty string.
    if (options !== undefined)
      throw invalidArgument('formatNumber', 'no options as the third argument');
  },
};

/** JSONata's `$string` and the text of an operand of `&`. */
export function toText([value, prettify]: readonly unknown[], meter: Meter): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return boundedText(value);
  if (isFunctionValue(value)) return '';
  if (value === null) return 'null';
  return boundedText(
    JSON.stringify(plainResult(value, meter), roundNumber, prettify === true ? 2 : undefined),
  );
}

function isFunctionValue(value: unknown): boolean {
  if (typeof value === 'function') return true;
  const flags = value as { _jsonata_lambda?: unknown; _jsonata_function?: unknown } | null;
  return flags?._jsonata_lambda === true || flags?._jsonata_function === true;
}

function roundNumber(_: string, value: unknown): unknown {
  return typeof value === 'number' ? roundedNumber(value) : value;
}

/** JSONata's `$type`, which takes a `bigint` for an object. */
function typeOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (isFunctionValue(value)) return 'function';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

function invalidArgument(name: string, expected: string): ExpressionError {
  return new ExpressionError('evaluation-failed', `Expected ${expected} of $${name}()`);
}

function pad([text, width, filler]: readonly unknown[]): string | undefined {
  if (typeof text !== 'string' || typeof width !== 'number') return undefined;
  assertTextLength(Math.abs(width));
  const fill = typeof filler === 'string' && filler !== '' ? filler : ' ';
  // Code points, not UTF-16 units, are counted, as in JSONata.
  const missing = Math.floor(Math.abs(width)) - Array.from(text).length;
  if (missing <= 0) return boundedText(text);
  const padding = Array.from(fill.repeat(Math.ceil(missing / Array.from(fill).length)))
    .slice(0, missing)
    .join('');
  return boundedText(width < 0 ? padding + text : text + padding);
}

function join([texts, separator]: readonly unknown[]): string | undefined {
  if (!Array.isArray(texts)) return undefined;
  const between = typeof separator === 'string' ? separator : '';
  let length = 0;
  for (const text of texts) {
    length += String(text).length + between.length;
    assertTextLength(length - between.length);
  }
  return texts.join(between);
}

function distinct(focus: CallFocus, [list]: readonly unknown[]): unknown {
  if (!Array.isArray(list) || list.length <= 1) return list;
  const isSequence = (list as { sequence?: unknown }).sequence === true;
  const result: unknown[] = isSequence ? focus.createSequence() : [];
  const seen = new Set<string>();
  for (const value of list) {
    const key = isFunctionValue(value) ? '' : canonicalJson(value);
    if (!seen.has(key)) result.push(value);
    seen.add(key);
  }
  return result;
}

async function sort(focus: CallFocus, args: readonly unknown[]): Promise<unknown> {
  const [list, comparator] = args;
  if (!Array.isArray(list) || list.length <= 1) return list;
  if (list.length > limits.sequence) throw tooManyElements();
  const values: readonly unknown[] = [...list];
  if (typeof comparator === 'function') {
    return mergeSort(values, async (a, b) => (await comparator(a, b)) === true, focus);
  }
  const type = typeof values[0];
  if ((type !== 'string' && type !== 'number') || values.some((value) => typeof value !== type)) {
    throw invalidArgument(
      'sort',
      'a list of strings or numbers, or a comparison function, as arguments',
    );
  }
  // Compares UTF-16 units, as the operators do: the order must not depend on a locale.
  return values.toSorted((a, b) => ((a as string) < (b as string) ? -1 : a === b ? 0 : 1));
}

/** Stable; `isAfter(a, b)` returns whether `a` must come after `b`. */
async function mergeSort(
  values: readonly unknown[],
  isAfter: (a: unknown, b: unknown) => Promise<boolean>,
  focus: CallFocus,
): Promise<unknown[]> {
  if (values.length <= 1) return [...values];
  const middle = values.length >> 1;
  const left = await mergeSort(values.slice(0, middle), isAfter, focus);
  const right = await mergeSort(values.slice(middle), isAfter, focus);
  const result: unknown[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    focus.environment.base.guardrails();
    result.push((await isAfter(left[l], right[r])) ? right[r++] : left[l++]);
  }
  return [...result, ...left.slice(l), ...right.slice(r)];
}

async function match(focus: CallFocus, args: readonly unknown[]): Promise<unknown> {
  const [text, matcher, limit] = args;
  if (typeof text !== 'string') return undefined;
  const result = focus.createSequence();
  const most = limitArgument('match', limit);
  for await (const found of matchesOf(text, matcher as Matcher, focus)) {
    if (result.length >= most) break;
    result.push({ match: found.match, index: found.start, groups: [...found.groups] });
  }
  return result;
}

async function split(focus: CallFocus, args: readonly unknown[]): Promise<unknown> {
  const [text, separator, limit] = args;
  if (typeof text !== 'string') return undefined;
  const most = limitArgument('split', limit);
  if (typeof separator === 'string') {
    return withinSequence(text.split(separator, Math.min(most, limits.sequence + 1)));
  }
  const result: string[] = [];
  let start = 0;
  for await (const found of matchesOf(text, separator as Matcher, focus)) {
    if (result.length >= most) return result;
    result.push(text.slice(start, found.start));
    start = found.end;
    withinSequence(result);
  }
  if (result.length < most) result.push(text.slice(start));
  return result;
}

async function replace(focus: CallFocus, args: readonly unknown[]): Promise<unknown> {
  const [text, pattern, replacement, limit] = args;
  if (typeof text !== 'string') return undefined;
  if (pattern === '') throw invalidArgument('replace', 'a non-empty string as the second argument');
  const most = limitArgument('replace', limit);
  const matches =
    typeof pattern === 'string'
      ? occurrencesOf(text, pattern, focus)
      : matchesOf(text, pattern as Matcher, focus);
  let result = '';
  let position = 0;
  let count = 0;
  for await (const found of matches) {
    if (count++ >= most) break;
    const substitute = await substituteFor(found, typeof pattern === 'string', replacement);
    result = boundedText(result + text.slice(position, found.start) + substitute);
    position = found.start + found.match.length;
  }
  return boundedText(result + text.slice(position));
}

async function substituteFor(
  found: Match,
  isLiteral: boolean,
  replacement: unknown,
): Promise<string> {
  if (typeof replacement === 'string') {
    return isLiteral ? replacement : expandGroups(replacement, found);
  }
  const value = typeof replacement === 'function' ? await replacement(found) : undefined;
  if (typeof value !== 'string')
    throw invalidArgument('replace', 'a function that returns a string as the third argument');
  return value;
}

/** `$0` is the match, `$1` a group, `$$` a dollar sign. The number of digits depends on the number of groups. */
function expandGroups(template: string, found: Match): string {
  const digits = Math.max(1, String(found.groups.length).length);
  return template.replace(/\$(\$|\d+)/g, (whole: string, what: string) => {
    if (what === '$') return '$';
    if (what.startsWith('0')) return found.match + what.slice(1);
    let taken = what.slice(0, digits);
    if (taken.length > 1 && Number(taken) > found.groups.length) taken = taken.slice(0, -1);
    const group = found.groups[Number(taken) - 1] ?? '';
    return group + whole.slice(1 + taken.length);
  });
}

async function* occurrencesOf(
  text: string,
  pattern: string,
  focus: CallFocus,
): AsyncGenerator<Match, void, undefined> {
  for (let start = text.indexOf(pattern); start >= 0; ) {
    await takeStep(focus);
    const end = start + pattern.length;
    yield { match: pattern, start, end, groups: [], next: () => undefined };
    start = text.indexOf(pattern, end);
  }
}

async function* matchesOf(
  text: string,
  matcher: Matcher,
  focus: CallFocus,
): AsyncGenerator<Match, void, undefined> {
  let found = await matcher(text);
  while (found !== undefined && found !== null) {
    const current = found as Match;
    await takeStep(focus);
    yield current;
    found = await (current.next as () => unknown)();
  }
}

/** Counts a step; pauses long-running functions as the work budget requires. */
function takeStep(focus: CallFocus): Promise<void> | undefined {
  focus.environment.base.guardrails();
  const { budget } = meterOf(focus);
  return budget.shouldPause ? budget.interrupt() : undefined;
}

function limitArgument(name: string, limit: unknown): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  if (typeof limit !== 'number' || limit < 0) {
    throw invalidArgument(name, 'a limit of zero or more as the last argument');
  }
  return limit;
}

function withinSequence(list: string[]): string[] {
  if (list.length > limits.sequence) throw tooManyElements();
  return list;
}

function tooManyElements(): ExpressionError {
  return new ExpressionError(
    'limit-exceeded',
    `Expected a list of at most ${limits.sequence} elements`,
  );
}

function assertShort(name: string, ...texts: readonly unknown[]): void {
  for (const text of texts) {
    if (typeof text === 'string' && text.length > limits.pictureLength) {
      throw new ExpressionError(
        'limit-exceeded',
        `Expected strings of at most ${limits.pictureLength} characters as arguments of $${name}()`,
      );
    }
  }
}

/** Width modifiers (`[Y,9999999]`) pad to their width. */
function assertNarrow(name: string, picture: string): void {
  if (/,[^\]]*\d{3}/.test(picture)) throw invalidArgument(name, 'widths below 100 in the picture');
}

/**
 * The original converts the picture to a backtracking regular expression. Each pair of adjacent components without a
 * separator multiplies the time by the length of the input.
 */
function assertSeparated(text: string, picture: string): void {
  if (text.length > 40) throw invalidArgument('toMillis', 'at most 40 characters with a picture');
  const between = picture.split(/\[[^\]]*\]/).slice(1, -1);
  const adjacent = between.filter((literal) => !/[^0-9A-Za-z]/.test(literal)).length;
  if (adjacent > 4)
    throw invalidArgument('toMillis', 'separators between the components of the picture');
}

/** Roman numerals grow in proportion to the number. */
function assertModerate(name: string, number: unknown): void {
  if (typeof number === 'number' && !(Math.abs(number) <= Number.MAX_SAFE_INTEGER)) {
    throw invalidArgument(name, 'a number below 2^53');
  }
}
