import { isJsonObject, type Json } from '#util/json.ts';

/** Decides whether a found value is as expected; undefined where there is none. */
export type Matcher = (found: unknown) => boolean;

type CreateMatcher = (argument: Json) => Matcher;

const ordered =
  (isInOrder: (found: number, limit: number) => boolean): CreateMatcher =>
  (argument) =>
  (found) =>
    typeof found === 'number' && typeof argument === 'number' && isInOrder(found, argument);

/** By the name that stands in a test: `{ $gt: 3 }`. */
const matchers: ReadonlyMap<string, CreateMatcher> = new Map<string, CreateMatcher>([
  ['$any', () => (found) => found !== undefined && found !== null],
  ['$absent', () => (found) => found === undefined || found === null],
  ['$match', (argument) => matches(String(argument))],
  ['$gt', ordered((found, limit) => found > limit)],
  ['$gte', ordered((found, limit) => found >= limit)],
  ['$lt', ordered((found, limit) => found < limit)],
  ['$lte', ordered((found, limit) => found <= limit)],
  ['$length', (argument) => (found) => lengthOf(found) === argument],
]);

/** The names of all matchers. */
export const matcherNames: readonly string[] = [...matchers.keys()];

/** The matcher that a value of a test stands for; undefined for a plain value. */
export function matcherOf(expected: unknown): Matcher | undefined {
  if (!isJsonObject(expected)) return undefined;
  const [[name, argument] = ['', null], ...others] = Object.entries(expected);
  return others.length > 0 ? undefined : matchers.get(name)?.(argument ?? null);
}

function matches(pattern: string): Matcher {
  const regex = new RegExp(pattern, 'u');
  return (found) => found !== undefined && found !== null && regex.test(String(found));
}

function lengthOf(value: unknown): number | undefined {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : undefined;
}
