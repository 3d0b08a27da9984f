import { checkConversion, parseConversionRules } from '#conversion';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { completeCrd, resolveCrd } from '../crd/complete-crd.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapAt, mapsAt, valueAt } from '../tree.ts';
import type { Rule } from './rule.ts';

const path = '/spec/conversions';

/** Rules between versions fit the versions of the CRD, and lose nothing that is not given up on purpose. */
export const checkConversions: Rule = function* (document) {
  const written = valueAt(document, path);
  if (!isJsonObject(written)) return;
  yield* checkPlace(document);
  if (valueAt(document, '/spec/crd') === undefined) return;
  const { rules, problems = [] } = parseConversionRules(written);
  const found =
    rules === undefined ? problems : checkConversion({ rules, schemas: schemasOf(document) });
  for (const { path: place, at, message, hint, severity, isOfSchema } of found) {
    // A missing or an unknown field, which the schema reports.
    if (isOfSchema || valueAt(document, `${path}${place}`) === undefined) continue;
    const finding = { severity, code: 'invalid-value', path: `${path}${place}`, message } as const;
    yield { ...finding, ...(hint !== undefined && { hint }), ...(at !== undefined && { at }) };
  }
};

function* checkPlace(document: JsonObject): Iterable<Finding> {
  const finding = { code: 'invalid-value', path, at: 'key' } as const;
  if (valueAt(document, '/spec/crd') === undefined) {
    yield {
      ...finding,
      message: '"conversions" needs "crd"',
      hint: 'The versions of an existing kind belong to its own operator',
    };
    return;
  }
  if (mapsAt(document, '/spec/crd/versions').length < 2)
    yield { ...finding, message: '"conversions" needs two or more versions in "crd"' };
  if (mapAt(document, '/spec/crd/conversion').strategy === 'Webhook')
    yield {
      ...finding,
      path: '/spec/crd/conversion',
      message: 'A definition has either "conversions" or a conversion webhook of its own',
      hint: 'Remove "crd.conversion": Homeostat sets it',
    };
  if (valueAt(document, '/spec/controller/clusters') !== undefined)
    yield {
      ...finding,
      message: 'A definition that runs in member clusters cannot have "conversions"',
      hint: 'Their API servers do not reach the conversion webhook of this cluster',
    };
}

/** The schema of each version as it is installed. */
function schemasOf(document: JsonObject): ReadonlyMap<string, JsonObject> {
  const crd = completeCrd(resolveCrd(mapAt(document, '/spec/crd')));
  return new Map(
    mapsAt(crd, '/spec/versions').map(({ value }) => [
      String(fieldOf(value, 'name')),
      mapAt(value, '/schema/openAPIV3Schema'),
    ]),
  );
}
