import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json } from '#util/json.ts';
import { type KeywordRule, nameOf, quoted } from './breaking-change.ts';

/** Documentation only: every change is safe. */
export const ignoreKeyword: KeywordRule = () => [];

/** Every change breaks. */
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
 * Formats that add nothing to their type: API servers accept the same values without them. Integers are checked as `int64`, numbers as
 * `double`; every string is a `password`.
 */
const impliedFormats: ReadonlyMap<Json | undefined, string> = new Map([
  ['integer', 'int64'],
  ['number', 'double'],
  ['string', 'password'],
]);

/** Formats whose values are all valid in the mapped format. */
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
  const message = `${nameOf(place)} is no longer nullable: stored values may be null`;
  yield { path: `${place.path}/${keyword}`, message };
};

export const checkEnum: KeywordRule = function* (keyword, { before, after, place }) {
  const was = listAt(before.enum);
  const is = listAt(after.enum);
  if (is === undefined) return;
  const path = `${place.path}/${keyword}`;
  if (was === undefined) {
    const message = `${nameOf(place)} gets an enum: stored values may differ`;
    yield { path, message };
    return;
  }
  const removed = was.filter((value) => !is.some((other) => deepEqual(value, other)));
  if (removed.length === 0) return;
  const message = `${nameOf(place)} takes ${removed.map(quoted).join(', ')} out of its enum: stored values may have it`;
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

export const checkPreserveUnknown: KeywordRule = function* (keyword, { before, after, place }) {
  if (before[keyword] !== true || after[keyword] === true) return;
  const message = `${nameOf(place)} no longer preserves unknown fields: stored ones would be lost`;
  yield { path: `${place.path}/${keyword}`, message };
};

/** CEL rules. Only the rule matters, not its message. */
export const checkValidations: KeywordRule = function* (keyword, { before, after, place }) {
  const was = listAt(before[keyword]) ?? [];
  for (const [index, added] of (listAt(after[keyword]) ?? []).entries()) {
    if (was.some((each) => isNotStricter(added, each))) continue;
    const rule = isJsonObject(added) ? added.rule : added;
    const message = `${nameOf(place)} gets the rule ${quoted(rule)}: stored values may violate it`;
    yield { path: `${place.path}/${keyword}/${index}`, message };
  }
};

function isNotStricter(after: Json, before: Json): boolean {
  if (!isJsonObject(after) || !isJsonObject(before)) return false;
  const isOnCreation = ({ optionalOldSelf }: typeof after) => optionalOldSelf === true;
  return after.rule === before.rule && (isOnCreation(before) || !isOnCreation(after));
}

function listAt(value: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(value) ? value : undefined;
}
