import { isJsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { fieldOf, mapAt, mapsAt, type Placed, valueAt } from '../tree.ts';
import type { Rule } from './rule.ts';

/**
 * Without conversion an object is the same in all versions. A server-side apply looks at it in the version of each of its managers,
 * and the server answers 500 when that lacks one of its fields (seen on 1.36).
 */
export const checkCrdVersionFields: Rule = function* (document) {
  if (valueAt(document, '/spec/crd/conversion/strategy') === 'Webhook') return;
  const versions = mapsAt(document, '/spec/crd/versions');
  const stored = versions.find(({ value }) => value.storage === true);
  if (stored === undefined) return;
  for (const version of versions) {
    if (version === stored || fieldOf(version.value, 'served') !== true) continue;
    for (const [here, there] of [
      [version, stored],
      [stored, version],
    ] as const) {
      const missing = missingField(schemaOf(there), schemaOf(here));
      if (missing === undefined) continue;
      yield {
        severity: 'warning',
        code: 'invalid-crd',
        path: pointerTo(here.path, 'schema'),
        at: 'key',
        message: `Version "${String(fieldOf(here.value, 'name'))}" lacks the field "${missing}" of version "${String(fieldOf(there.value, 'name'))}"`,
        hint: 'Declare it in both: the server cannot apply to an object with a field that another version of it lacks',
      };
    }
  }
};

function schemaOf({ value }: Placed<unknown>): unknown {
  return valueAt(value, '/schema/openAPIV3Schema');
}

/** The first field that one schema has and another has not, as a path. */
function missingField(from: unknown, other: unknown, path = ''): string | undefined {
  if (fieldOf(other, 'x-kubernetes-preserve-unknown-fields') === true) return undefined;
  const known = mapAt(other, '/properties');
  for (const [name, schema] of Object.entries(mapAt(from, '/properties'))) {
    const here = path === '' ? name : `${path}.${name}`;
    if (!Object.hasOwn(known, name)) return here;
    const deeper = missingField(schema, known[name], here);
    if (deeper !== undefined) return deeper;
  }
  for (const inner of ['items', 'additionalProperties']) {
    const [one, two] = [fieldOf(from, inner), fieldOf(other, inner)];
    if (!isJsonObject(one) || !isJsonObject(two)) continue;
    const deeper = missingField(one, two, `${path}[]`);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}
