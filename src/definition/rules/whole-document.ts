import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject, pointerSteps, pointerTo } from '../../util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, type LocatedValue, valueAt } from '../tree.ts';
import { isDnsLabel, type Rule } from './rule.ts';

/**
 * Strings must be well-formed Unicode. An API server replaces a lone surrogate, so the stored object would always
 * differ.
 */
export function* checkWellFormed(document: JsonObject): Iterable<Finding> {
  const open: (readonly [path: string, value: unknown])[] = [['', document]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, value] = next;
    if (typeof value === 'string' && !value.isWellFormed()) yield loneSurrogate(path);
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) open.push([pointerTo(path, index), item]);
    else if (isJsonObject(value))
      for (const [key, item] of Object.entries(value)) {
        if (!key.isWellFormed()) yield { ...loneSurrogate(pointerTo(path, key)), at: 'key' };
        open.push([pointerTo(path, key), item]);
      }
  }
}

function loneSurrogate(path: string): Finding {
  return {
    code: 'invalid-value',
    path,
    message: 'Expected valid Unicode, found a lone surrogate',
    hint: 'Write the character itself, or both surrogates of its escape sequence',
  };
}

/** The name of the definition is a DNS label. */
export const checkMetadataName: Rule = function* (document) {
  const name = valueAt(document, '/metadata/name');
  if (typeof name !== 'string' || isDnsLabel(name)) return;
  const better = name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  yield {
    code: 'invalid-name',
    path: '/metadata/name',
    message: `Expected lower-case letters, digits and "-" (at most 63), found ${describeFound(name)}`,
    hint: isDnsLabel(better) ? `Write "${better}"` : undefined,
  };
};

/** Maximum size of `spec` as JSON, in bytes. */
const maxBytes = 262_144;

/**
 * Limits the size of `spec`: the status of a definition stores up to three revisions, and the size of an object is
 * limited.
 */
export function* checkSize({ spec }: JsonObject): Iterable<Finding> {
  const bytes = new TextEncoder().encode(JSON.stringify(spec ?? null)).length;
  if (bytes <= maxBytes) return;
  yield {
    code: 'invalid-value',
    path: '/spec',
    message: `Expected at most ${maxBytes / 1024} KiB, found ${Math.ceil(bytes / 1024)} KiB`,
    hint: 'Split the definition, or move large strings to ConfigMaps and read them with "reads"',
  };
}

/** A field of the format that is not supported yet. */
interface UnsupportedField {
  /** JSON pointer; `*` is every item of a list. */
  readonly path: string;
  /** Values that are accepted, usually the default. */
  readonly supportedValues?: readonly unknown[];
}

/** All unsupported fields. Delete the row when the field is implemented. */
export const unsupportedFields: readonly UnsupportedField[] = [
  { path: '/spec/crd/conversion/strategy', supportedValues: ['None'] },
];

/** Rejects unsupported fields instead of ignoring them. */
export const checkUnsupportedFields: Rule = function* (document) {
  for (const later of unsupportedFields) {
    for (const place of valuesMatching(document, later.path)) {
      if (later.supportedValues?.some((value) => deepEqual(value, place.value))) continue;
      yield notSupportedYet(place, later);
    }
  }
};

function notSupportedYet(
  { value, path }: LocatedValue<unknown>,
  { supportedValues }: UnsupportedField,
): Finding {
  const field = pointerSteps(path).at(-1) ?? '';
  const isScalar = typeof value !== 'object';
  const what = supportedValues !== undefined && isScalar ? `${field}: ${String(value)}` : field;
  const [working] = supportedValues ?? [];
  const only =
    working !== undefined && typeof working !== 'object'
      ? `Only "${field}: ${String(working)}" is supported`
      : undefined;
  return {
    code: 'not-supported-yet',
    path,
    at: 'key',
    message: `"${what}" is not supported yet`,
    hint: only,
  };
}

/** The values that match a pointer with `*`. */
function valuesMatching(root: unknown, pattern: string): readonly LocatedValue<unknown>[] {
  let places: readonly LocatedValue<unknown>[] = [{ value: root, path: '' }];
  for (const step of pointerSteps(pattern)) {
    places = places.flatMap(({ value, path }) => stepInto(value, step, path));
  }
  return places;
}

function stepInto(value: unknown, step: string, path: string): readonly LocatedValue<unknown>[] {
  if (step === '*') {
    if (!Array.isArray(value)) return [];
    return value.map((item: unknown, index) => ({ value: item, path: pointerTo(path, index) }));
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, step)) return [];
  return [{ value: fieldOf(value, step), path: pointerTo(path, step) }];
}
