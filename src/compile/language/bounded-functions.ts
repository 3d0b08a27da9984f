/**
 * Replacements of JSONata's built-in functions that can hang or abort a process, or that see the real time.
 * Their results are those of the originals within the limits, and errors beyond them.
 */
import jsonata from 'jsonata';
import { canonicalJson } from '../../util/canonical-json.ts';
import { ExpressionError } from './expression-error.ts';
import { limits } from './limits.ts';
import type { Meter } from './meter.ts';
import { plainResult } from './plain-json.ts';
import { type CallFocus, meterOf } from './runtime-scope.ts';
import { decodeBase64, encodeBase64 } from './text-encoding.ts';

export interface BoundedFunction {
  readonly name: string;
  /** JSONata's signature of the original: it checks arguments and fills in the context. */
  readonly signature: string;
  /** Number of arguments that a function that takes functions (`$map`) passes. */
  readonly arity: number;
  readonly run: (focus: CallFocus, args: readonly unknown[]) => unknown;
}

/** What a regular expression (or a function in its place) gives for a text. */
interface Match {
  readonly match: string;
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
  readonly next: () => unknown;
}

type Matcher = (text: string) => unknown;

/** Creates the table; the originals that it calls are compiled on first use. */
export function createBoundedFunctions(): readonly BoundedFunction[] {
  const original = createOriginals();
  return [
    {
      name: 'string',
      signature: '<x-b?:s>',
      arity: 2,
      run: (focus, args) => toText(args, meterOf(focus)),
    },
    {
      name: 'clone',
      signature: '<(oa)-:o>',
      arity: 1,
      run: (focus, [value]) => plainResult(value, meterOf(focus)),
    },
    { name: 'pad', signature: '<s-ns?:s>', arity: 3, run: (_, args) => pad(args) },
    { name: 'join', signature: '<a<s>s?:s>', arity: 2, run: (_, args) => join(args) },
    // The originals cut every character to a byte and need a global that a web page has not got.
    {
      name: 'base64encode',
      signature: '<s-:s>',
      arity: 1,
      run: (_, [text]) => (typeof text === 'string' ? encodeBase64(text) : undefined),
    },
    {
      name: 'base64decode',
      signature: '<s-:s>',
      arity: 1,
      run: (_, [text]) => (typeof text === 'string' ? decodeBase64(text) : undefined),
    },
    { name: 'distinct', signature: '<x:x>', arity: 1, run: distinct },
    { name: 'sort', signature: '<af?:a>', arity: 2, run: sort },
    { name: 'match', signature: '<s-f<s:o>n?:a<o>>', arity: 3, run: match },
    { name: 'replace', signature: '<s-(sf)(sf)n?:s>', arity: 4, run: replace },
    { name: 'split', signature: '<s-(sf)n?:a<s>>', arity: 3, run: split },
    {
      name: 'toMillis',
      signature: '<s-s?:n>',
      arity: 2,
      run: (_, [text, picture]) => {
        assertShort('toMillis', text, picture);
        if (typeof text === 'string' && typeof picture === 'string') assertSeparated(text, picture);
        return original('toMillis', [text, picture]);
      },
    },
    {
      name: 'fromMillis',
      signature: '<n-s?s?:s>',
      arity: 3,
      run: (_, [millis, picture, zone]) => {
        assertShort('fromMillis', picture, zone);
        if (typeof picture === 'string') assertNarrow('fromMillis', picture);
        return original('fromMillis', [millis, picture, zone]);
      },
    },
    {
      name: 'parseInteger',
      signature: '<s-s:n>',
      arity: 2,
      run: (_, args) => {
        assertShort('parseInteger', ...args);
        return original('parseInteger', args);
      },
    },
    {
      name: 'formatInteger',
      signature: '<n-s:s>',
      arity: 2,
      run: (_, args) => {
        assertShort('formatInteger', args[1]);
        assertModerate('formatInteger', args[0]);
        return original('formatInteger', args);
      },
    },
    {
      name: 'formatNumber',
      signature: '<n-so?:s>',
      arity: 3,
      run: (_, [number, picture, options]) => {
        assertShort('formatNumber', picture);
        // The original never ends when an option is an empty text.
        if (options !== undefined) {
          throw refused('formatNumber', 'no options as the third argument');
        }
        return original('formatNumber', [number, picture]);
      },
    },
  ];
}

function createOriginals(): (name: string, args: readonly unknown[]) => Promise<unknown> {
  const compiled = new Map<string, jsonata.Expression>();
  return (name, args) => {
    const call = `$${name}(${args.map((_, index) => `$a${index}`).join(', ')})`;
    let expression = compiled.get(call);
    if (expression === undefined) {
      expression = jsonata(call, { stack: limits.depth });
      compiled.set(call, expression);
    }
    return expression.evaluate(
      undefined,
      Object.fromEntries(args.map((arg, index) => [`a${index}`, arg])),
    );
  };
}

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

/** Numbers print with 15 digits, as in JSONata: 0.1 + 0.2 is 0.3. */
function roundNumber(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value)
    ? Number(value.toPrecision(15))
    : value;
}

/** The text, if it is not too long. @throws ExpressionError */
export function boundedText(text: string): string {
  if (text.length > limits.textLength) throw tooLong();
  return text;
}

function tooLong(): ExpressionError {
  return new ExpressionError(
    'limit-exceeded',
    `Expected a text of at most ${limits.textLength} characters`,
  );
}

function refused(name: string, expected: string): ExpressionError {
  return new ExpressionError('evaluation-failed', `Expected ${expected} of $${name}()`);
}

function pad([text, width, filler]: readonly unknown[]): string | undefined {
  if (typeof text !== 'string' || typeof width !== 'number') return undefined;
  if (Math.abs(width) > limits.textLength) throw tooLong();
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
    if (length - between.length > limits.textLength) throw tooLong();
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
    throw refused(
      'sort',
      'a list of texts or of numbers, or a function that compares, as arguments',
    );
  }
  // By UTF-16 units, as the comparison operators: the order must not depend on a locale.
  return values.toSorted((a, b) => ((a as string) < (b as string) ? -1 : a === b ? 0 : 1));
}

/** Stable; `isAfter(a, b)` says that `a` belongs behind `b`. */
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
  if (pattern === '') throw refused('replace', 'a text that is not empty as the second argument');
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
    throw refused('replace', 'a function that gives a text as the third argument');
  return value;
}

/** `$0` is the match, `$1` a group, `$$` a dollar; as many digits count as there can be groups. */
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

/** A function that goes on for long gives way like an expression. */
function takeStep(focus: CallFocus): Promise<void> | undefined {
  focus.environment.base.guardrails();
  const { budget } = meterOf(focus);
  return budget.isDue ? budget.interrupt() : undefined;
}

function limitArgument(name: string, limit: unknown): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  if (typeof limit !== 'number' || limit < 0) {
    throw refused(name, 'a limit of zero or more as the last argument');
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
        `Expected texts of at most ${limits.pictureLength} characters as arguments of $${name}()`,
      );
    }
  }
}

/** Width modifiers (`[Y,9999999]`) pad to their width. */
function assertNarrow(name: string, picture: string): void {
  if (/,[^\]]*\d{3}/.test(picture)) throw refused(name, 'widths below 100 in the picture');
}

/**
 * The original makes a backtracking expression of the picture, in which every two number or name components without a
 * separator between them multiply the time by the length of the text.
 */
function assertSeparated(text: string, picture: string): void {
  if (text.length > 40) throw refused('toMillis', 'at most 40 characters with a picture');
  const between = picture.split(/\[[^\]]*\]/).slice(1, -1);
  const adjacent = between.filter((literal) => !/[^0-9A-Za-z]/.test(literal)).length;
  if (adjacent > 4) throw refused('toMillis', 'separators between the components of the picture');
}

/** Roman numerals grow with the number itself. */
function assertModerate(name: string, number: unknown): void {
  if (typeof number === 'number' && !(Math.abs(number) <= Number.MAX_SAFE_INTEGER)) {
    throw refused(name, 'a number below 2^53');
  }
}
