import type { Arbitrary } from 'fast-check';
import * as fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import { stringArbitrary } from './string-arbitrary.ts';

/** Values that the user or the samples give for fields. */
export interface FieldValues {
  /** By JSON pointer below the resource, `*` for any item: the only values of the field. */
  readonly only: Readonly<Record<string, readonly Json[]>>;
  /** Resources whose values are used where they fit the schema. */
  readonly samples: readonly Json[];
}

/** Lists and maps longer than this find nothing new. */
const maxItems = 3;
/** Numbers beyond this are rare, and as `replicas` they would only take time. */
const numberRange = 6;

/**
 * Values of a structural schema of a CRD. Rules that cannot be generated (CEL, `oneOf`, `not`) are left to the server, which rejects the
 * resource. Pure.
 * @param path JSON pointer of the value, with `*` for items
 */
export function schemaArbitrary(
  schema: JsonObject,
  values: FieldValues,
  path: string,
): Arbitrary<Json> {
  const only = values.only[path];
  if (only !== undefined) return fc.constantFrom(...only);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const created = typedArbitrary(schema, values, path);
  return schema.nullable === true ? fc.oneof(created, fc.constant(null)) : created;
}

function typedArbitrary(schema: JsonObject, values: FieldValues, path: string): Arbitrary<Json> {
  const known = knownValues(values.samples, path);
  if (schema['x-kubernetes-int-or-string'] === true) {
    const chosen = known.filter((value) => typeof value === 'number' || typeof value === 'string');
    return fc.oneof(
      ...(chosen.length > 0 ? [fc.constantFrom(...chosen)] : []),
      numberArbitrary({ type: 'integer' }),
    );
  }
  switch (schema.type) {
    case 'string':
      return stringArbitrary(
        schema,
        known.filter((value) => typeof value === 'string'),
      );
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return numberArbitrary(schema);
    case 'array':
      return listArbitrary(schema, values, path);
    default:
      return objectArbitrary(schema, values, path, known);
  }
}

function numberArbitrary(schema: JsonObject): Arbitrary<Json> {
  const { minimum, maximum, multipleOf: step = 1 } = schema as NumberRules;
  const last =
    maximum === undefined
      ? undefined
      : Math.floor(maximum / step) - excluded(schema.exclusiveMaximum);
  const first =
    minimum === undefined
      ? Math.min(0, last ?? 0)
      : Math.ceil(minimum / step) + excluded(schema.exclusiveMinimum);
  const end = Math.max(first, Math.min(last ?? first + numberRange, first + numberRange));
  const near = fc.integer({ min: first, max: end });
  // The upper end is tried where it is small: 65,535 is a port, but 65,535 replicas only take time.
  const counts =
    last !== undefined && last > end && last <= 100 ? fc.oneof(near, fc.constant(last)) : near;
  return counts.map((count) => count * step);
}

interface NumberRules {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
}

function excluded(isExclusive: Json | undefined): number {
  return isExclusive === true ? 1 : 0;
}

function listArbitrary(schema: JsonObject, values: FieldValues, path: string): Arbitrary<Json> {
  const items = isJsonObject(schema.items) ? schema.items : {};
  const minLength = Number(schema.minItems ?? 0);
  const maxLength = Math.max(minLength, Math.min(Number(schema.maxItems ?? maxItems), maxItems));
  const item = schemaArbitrary(items, values, `${path}/*`);
  const type = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'];
  // Names of items are nearly always names of objects or parts of them, so they differ, also where the schema does not say so.
  const names = Array.isArray(keys) ? keys.map(String) : nameFields(items);
  const isUnique = type === 'set' || type === 'map' || items.type === 'string' || names.length > 0;
  if (!isUnique) return fc.array(item, { minLength, maxLength }) as Arbitrary<Json>;
  const selector = (value: Json) =>
    JSON.stringify(
      names.length > 0 && isJsonObject(value) ? names.map((name) => value[name]) : value,
    );
  return fc.uniqueArray(item, { minLength, maxLength, selector }) as Arbitrary<Json>;
}

function nameFields(items: JsonObject): readonly string[] {
  const properties = isJsonObject(items.properties) ? items.properties : {};
  return ['name', 'id', 'key'].filter((name) => name in properties).slice(0, 1);
}

function objectArbitrary(
  schema: JsonObject,
  values: FieldValues,
  path: string,
  known: readonly Json[],
): Arbitrary<Json> {
  if (isJsonObject(schema.properties))
    return propertiesArbitrary(schema, schema.properties, values, path);
  if (isJsonObject(schema.additionalProperties))
    return fc.dictionary(
      fc.constantFrom('a', 'b', 'mode'),
      schemaArbitrary(schema.additionalProperties, values, `${path}/*`),
      {
        minKeys: Math.min(Number(schema.minProperties ?? 0), maxItems),
        maxKeys: maxItems,
        noNullPrototype: true,
      },
    ) as Arbitrary<Json>;
  const objects = known.filter(isJsonObject);
  return fc.constantFrom<Json>({}, ...objects);
}

function propertiesArbitrary(
  schema: JsonObject,
  properties: JsonObject,
  values: FieldValues,
  path: string,
): Arbitrary<Json> {
  const model = Object.fromEntries(
    Object.entries(properties)
      .filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
      .map(([name, property]) => [name, schemaArbitrary(property, values, pointerTo(path, name))]),
  );
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const requiredKeys = required.filter((name) => name in model);
  return fc.record(model, { requiredKeys, noNullPrototype: true }) as Arbitrary<Json>;
}

/** The values that resources have at a path, each once. */
function knownValues(samples: readonly Json[], path: string): readonly Json[] {
  const steps = path.split('/').slice(1);
  const found = steps.reduce<readonly Json[]>(
    (values, step) =>
      values.flatMap((value): readonly Json[] => {
        if (step === '*') {
          if (Array.isArray(value)) return value;
          return isJsonObject(value) ? (Object.values(value) as Json[]) : [];
        }
        const below = isJsonObject(value)
          ? value[step.replaceAll('~1', '/').replaceAll('~0', '~')]
          : undefined;
        return below === undefined ? [] : [below];
      }),
    samples,
  );
  return [...new Map(found.map((value) => [JSON.stringify(value), value])).values()];
}
