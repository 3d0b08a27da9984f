import { deepEqual } from '../../../util/deep-equal.ts';
import { isJsonObject, type Json } from '../../../util/json.ts';
import { type KeywordRule, nameOf, quoted } from './breaking-change.ts';

/** For people only. */
export const isText: KeywordRule = () => [];

/** Whatever it changes to, it breaks. */
export const checkSame: KeywordRule = function* (keyword, { before, after, place }) {
  if (deepEqual(before[keyword], after[keyword])) return;
  const message = `${nameOf(place)} changes "${keyword}" from ${quoted(before[keyword])} to ${quoted(after[keyword])}`;
  yield { path: `${place.path}/${keyword}`, message };
};

export const checkType: KeywordRule = function* (keyword, { before, after, place }) {
  const was = before.type;
  const is = after.type;
  if (was === is || (is === undefined && place.role === 'value')) return;
  const message = `${nameOf(place)} changes its type from ${quoted(was ?? 'any')} to ${quoted(is ?? 'any')}`;
  yield { path: `${place.path}/${keyword}`, message };
};

/**
 * By type, the format that says no more than the type alone: API servers accept the same values with it and without it. An integer
 * without a format is checked as `int64`, a number as `double`; every string is a `password`.
 */
const impliedFormats: ReadonlyMap<Json | undefined, string> = new Map([
  ['integer', 'int64'],
  ['number', 'double'],
  ['string', 'password'],
]);

/** Formats whose values all belong to the other, too. */
const widerFormats: ReadonlyMap<string, string> = new Map([
  ['int32', 'int64'],
  ['float', 'double'],
]);

export const checkFormat: KeywordRule = function* (keyword, { before, after, place }) {
  const was = before.format;
  const is = after.format;
  if (is === undefined || was === is) return;
  if (was === undefined && impliedFormats.get(after.type) === is) return;
  if (typeof was === 'string' && widerFormats.get(was) === is) return;
  const message = `${nameOf(place)} changes its format from ${quoted(was)} to ${quoted(is)}: stored values may not have it`;
  yield { path: `${place.path}/${keyword}`, message };
};

export const checkPattern: KeywordRule = function* (keyword, { before, after, place }) {
  const was = before.pattern;
  const is = after.pattern;
  if (is === undefined || was === is) return;
  const message = `${nameOf(place)} changes its pattern from ${quoted(was)} to ${quoted(is)}: stored values may not match it`;
  yield { path: `${place.path}/${keyword}`, message };
};

export const checkNullable: KeywordRule = function* (keyword, { before, place, after }) {
  if (before.nullable !== true || after.nullable === true) return;
  const message = `${nameOf(place)} is nullable no more: stored values may be null`;
  yield { path: `${place.path}/${keyword}`, message };
};

export const checkEnum: KeywordRule = function* (keyword, { before, after, place }) {
  const was = listAt(before.enum);
  const is = listAt(after.enum);
  if (is === undefined) return;
  const path = `${place.path}/${keyword}`;
  if (was === undefined) {
    const message = `${nameOf(place)} gets an enum: stored values may be others`;
    yield { path, message };
    return;
  }
  const gone = was.filter((value) => !is.some((other) => deepEqual(value, other)));
  if (gone.length === 0) return;
  const message = `${nameOf(place)} takes ${gone.map(quoted).join(', ')} out of its enum: stored values may be that`;
  yield { path, message };
};

export const checkRequired: KeywordRule = function* (keyword, { before, after, place }) {
  const was = listAt(before.required) ?? [];
  for (const name of listAt(after.required) ?? []) {
    if (was.includes(name)) continue;
    const message = `${nameOf(place)} requires ${quoted(name)} from now on: stored resources may lack it`;
    yield { path: `${place.path}/${keyword}`, message };
  }
};

export const checkDefault: KeywordRule = function* (keyword, { before, after, place }) {
  if (place.hasOwnDefaults || deepEqual(before.default, after.default)) return;
  const message = `${nameOf(place)} changes its default from ${quoted(before.default)} to ${quoted(after.default)}: resources without the field would read differently`;
  yield { path: `${place.path}/${keyword}`, message };
};

export const checkPreserved: KeywordRule = function* (keyword, { before, after, place }) {
  if (before[keyword] !== true || after[keyword] === true) return;
  const message = `${nameOf(place)} preserves unknown fields no more: those that are stored would be lost`;
  yield { path: `${place.path}/${keyword}`, message };
};

/** Rules in CEL. Only what is checked matters, not what is said of it. */
export const checkValidations: KeywordRule = function* (keyword, { before, after, place }) {
  const was = listAt(before[keyword]) ?? [];
  for (const [index, added] of (listAt(after[keyword]) ?? []).entries()) {
    if (was.some((each) => asksNoMore(added, each))) continue;
    const rule = isJsonObject(added) ? added.rule : added;
    const message = `${nameOf(place)} gets the rule ${quoted(rule)}: stored values may break it`;
    yield { path: `${place.path}/${keyword}/${index}`, message };
  }
};

function asksNoMore(after: Json, before: Json): boolean {
  if (!isJsonObject(after) || !isJsonObject(before)) return false;
  const isOnCreation = ({ optionalOldSelf }: typeof after) => optionalOldSelf === true;
  return after.rule === before.rule && (isOnCreation(before) || !isOnCreation(after));
}

function listAt(value: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(value) ? value : undefined;
}
