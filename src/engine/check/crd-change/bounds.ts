import type { JsonObject } from '#util/json.ts';
import { type KeywordRule, nameOf, quoted } from './breaking-change.ts';

/** `minLength` and similar: 0 equals unset. */
export const checkMinCount: KeywordRule = function* (keyword, { before, after, place }) {
  const was = numberAt(before, keyword) ?? 0;
  const is = numberAt(after, keyword) ?? 0;
  if (is <= was) return;
  const message = `${nameOf(place)} raises "${keyword}" from "${was}" to "${is}": stored values may be smaller`;
  yield { path: `${place.path}/${keyword}`, message };
};

/** `maxLength` and similar. */
export const checkMaxCount: KeywordRule = function* (keyword, { before, after, place }) {
  const was = numberAt(before, keyword);
  const is = numberAt(after, keyword);
  if (is === undefined || (was !== undefined && is >= was)) return;
  const change = was === undefined ? `gets "${keyword}: ${is}"` : lowered(keyword, was, is);
  const message = `${nameOf(place)} ${change}: stored values may be larger`;
  yield { path: `${place.path}/${keyword}`, message };
};

/** `minimum` with `exclusiveMinimum`. */
export const checkMinimum: KeywordRule = function* (_keyword, { before, after, place }) {
  const was = numberAt(before, 'minimum');
  const is = numberAt(after, 'minimum');
  if (is === undefined) return;
  const becomesExclusive = isExclusive(after, 'Minimum') && !isExclusive(before, 'Minimum');
  if (was !== undefined && (is < was || (is === was && !becomesExclusive))) return;
  const path = `${place.path}/minimum`;
  const reason = 'stored values may be below it';
  if (was === undefined)
    yield { path, message: `${nameOf(place)} gets "minimum: ${is}": ${reason}` };
  else if (is > was)
    yield {
      path,
      message: `${nameOf(place)} raises "minimum" from "${was}" to "${is}": ${reason}`,
    };
  else
    yield {
      path,
      message: `${nameOf(place)} gets "exclusiveMinimum": stored values may be "${is}"`,
    };
};

/** `maximum` with `exclusiveMaximum`. */
export const checkMaximum: KeywordRule = function* (_keyword, { before, after, place }) {
  const was = numberAt(before, 'maximum');
  const is = numberAt(after, 'maximum');
  if (is === undefined) return;
  const becomesExclusive = isExclusive(after, 'Maximum') && !isExclusive(before, 'Maximum');
  if (was !== undefined && (is > was || (is === was && !becomesExclusive))) return;
  const path = `${place.path}/maximum`;
  const reason = 'stored values may be above it';
  if (was === undefined)
    yield { path, message: `${nameOf(place)} gets "maximum: ${is}": ${reason}` };
  else if (is < was)
    yield { path, message: `${nameOf(place)} ${lowered('maximum', was, is)}: ${reason}` };
  else
    yield {
      path,
      message: `${nameOf(place)} gets "exclusiveMaximum": stored values may be "${is}"`,
    };
};

/** Safe if the new factor divides the old one. */
export const checkMultipleOf: KeywordRule = function* (keyword, { before, after, place }) {
  const was = numberAt(before, keyword);
  const is = numberAt(after, keyword);
  if (is === undefined || is === was) return;
  // Fractions cannot be compared: 0.3 is no multiple of 0.1 in floating point.
  const areWhole = Number.isInteger(was) && Number.isInteger(is);
  if (areWhole && was !== undefined && was % is === 0) return;
  const message = `${nameOf(place)} changes "multipleOf" from ${quoted(was)} to "${is}": stored values may be no multiples of it`;
  yield { path: `${place.path}/${keyword}`, message };
};

function lowered(keyword: string, was: number, is: number): string {
  return `lowers "${keyword}" from "${was}" to "${is}"`;
}

function isExclusive(node: JsonObject, which: 'Minimum' | 'Maximum'): boolean {
  return node[`exclusive${which}`] === true;
}

function numberAt(node: JsonObject, keyword: string): number | undefined {
  const value = node[keyword];
  return typeof value === 'number' ? value : undefined;
}
