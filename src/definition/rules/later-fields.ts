import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject } from '../../util/json.ts';
import { pointerSteps, pointerTo } from '../../util/json-pointer.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, type Placed } from '../tree.ts';
import type { Rule } from './rule.ts';

/** A part of the format whose behaviour comes later. */
export interface LaterField {
  /** JSON pointer; `*` is every item of a list. */
  readonly path: string;
  /** Values that work now because they ask for nothing new: the default, mostly. */
  readonly works?: readonly unknown[];
  readonly hint?: string;
}

/** The whole list. What is built is deleted here. */
export const laterFields: readonly LaterField[] = [
  { path: '/spec/crd/conversion/strategy', works: ['None'] },
  { path: '/spec/reads/*/history' },
  { path: '/spec/clusters' },
];

/** A field whose behaviour comes later is refused, never ignored. */
export const checkLaterFields: Rule = function* (document) {
  for (const later of laterFields) {
    for (const place of placesOf(document, later.path)) {
      if (later.works?.some((value) => deepEqual(value, place.value))) continue;
      yield notYet(place, later);
    }
  }
};

function notYet({ value, path }: Placed<unknown>, { works, hint }: LaterField): Finding {
  const field = pointerSteps(path).at(-1) ?? '';
  const isScalar = typeof value !== 'object';
  const what = works !== undefined && isScalar ? `${field}: ${String(value)}` : field;
  const [working] = works ?? [];
  const only =
    working !== undefined && typeof working !== 'object'
      ? `Only "${field}: ${String(working)}" works so far`
      : undefined;
  return {
    code: 'not-supported-yet',
    path,
    at: 'key',
    message: `"${what}" is not supported yet`,
    hint: hint ?? only,
  };
}

/** The values that are there under a pointer with `*`. */
function placesOf(root: unknown, pattern: string): readonly Placed<unknown>[] {
  let places: readonly Placed<unknown>[] = [{ value: root, path: '' }];
  for (const step of pointerSteps(pattern)) {
    places = places.flatMap(({ value, path }) => stepInto(value, step, path));
  }
  return places;
}

function stepInto(value: unknown, step: string, path: string): readonly Placed<unknown>[] {
  if (step === '*') {
    if (!Array.isArray(value)) return [];
    return value.map((item: unknown, index) => ({ value: item, path: pointerTo(path, index) }));
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, step)) return [];
  return [{ value: fieldOf(value, step), path: pointerTo(path, step) }];
}
