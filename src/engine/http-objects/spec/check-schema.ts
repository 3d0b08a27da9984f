import { didYouMean } from '#util/did-you-mean.ts';
import { isJsonObject, type Json, type JsonObject, objectAt, pointerTo } from '#util/json.ts';
import type { KindSchema } from '../kinds/schema.ts';
import { errorAt, type SpecProblem } from './problem.ts';

/**
 * Compares a value with the schema of its CustomResourceDefinition. Also reports unknown fields, which the API server
 * removes. Pure.
 */
export function checkSchema(
  value: Json | undefined,
  schema: KindSchema,
  path: string,
): readonly SpecProblem[] {
  if (value === undefined) return [];
  const { type } = schema;
  if (type === undefined) return checkScalar(value, path);
  if (typeOf(value) !== type)
    return [
      {
        ...errorAt(
          path,
          `Expected ${named(type)}, found ${named(typeOf(value))}`,
          mapHint(value, schema),
        ),
        code: 'wrong-type',
      },
    ];
  if (isJsonObject(value)) return checkObject(value, schema, path);
  if (Array.isArray(value)) return checkList(value, schema, path);
  return checkValue(value, schema, path);
}

/** A hint for a text in place of a map whose only field it is. */
function mapHint(value: Json, { type, properties }: KindSchema): string | undefined {
  const [field, ...others] = Object.keys(properties ?? {});
  if (type !== 'object' || typeof value !== 'string' || others.length > 0) return undefined;
  return field === undefined ? undefined : `Write "{ ${field}: ${value} }"`;
}

function checkScalar(value: Json, path: string): readonly SpecProblem[] {
  const isScalar = ['string', 'integer', 'number', 'boolean'].includes(typeOf(value));
  return isScalar
    ? []
    : [errorAt(path, `Expected a text, number or boolean, found ${named(typeOf(value))}`)];
}

function checkObject(value: JsonObject, schema: KindSchema, path: string): readonly SpecProblem[] {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return [];
  const present = Object.keys(value).filter((name) => value[name] !== undefined);
  const values = objectAt(schema, 'additionalProperties');
  if (values !== undefined)
    return [
      ...countProblems(present.length, schema, path),
      ...present.flatMap((name) => checkSchema(value[name], values, pointerTo(path, name))),
    ];
  const properties = objectAt(schema, 'properties') ?? {};
  return [
    ...present.flatMap((name) => {
      const at = pointerTo(path, name);
      const field = objectAt(properties, name);
      if (field !== undefined) return checkSchema(value[name], field, at);
      const hint = didYouMean(name, Object.keys(properties));
      return [{ ...errorAt(at, `Unknown field "${name}"`, hint), code: 'unknown-field' as const }];
    }),
    ...missingFields(value, schema, path),
    ...alternatives(present, schema, path),
  ];
}

function missingFields(
  value: JsonObject,
  { required }: KindSchema,
  path: string,
): readonly SpecProblem[] {
  if (!Array.isArray(required)) return [];
  return required
    .filter((name) => typeof name === 'string' && value[name] === undefined)
    .map((name) => ({
      ...errorAt(path, `Expected the field "${String(name)}"`),
      code: 'missing-field' as const,
    }));
}

function alternatives(
  present: readonly string[],
  { oneOf, properties }: KindSchema,
  path: string,
): readonly SpecProblem[] {
  if (oneOf === undefined || !isJsonObject(properties)) return [];
  const names = Object.keys(properties);
  const found = present.filter((name) => names.includes(name));
  if (found.length === 1) return [];
  const list = names.map((name) => `"${name}"`).join(', ');
  return [errorAt(path, `Expected exactly one of ${list}, found ${found.length}`)];
}

function checkList(
  value: readonly Json[],
  schema: KindSchema,
  path: string,
): readonly SpecProblem[] {
  const items = objectAt(schema, 'items') ?? {};
  return [
    ...countProblems(value.length, schema, path),
    ...value.flatMap((item, index) => checkSchema(item, items, pointerTo(path, index))),
  ];
}

function countProblems(
  count: number,
  { minItems, maxItems, minProperties, maxProperties }: KindSchema,
  path: string,
): readonly SpecProblem[] {
  const least = minItems ?? minProperties;
  const most = maxItems ?? maxProperties;
  if (typeof least === 'number' && count < least)
    return [errorAt(path, `Expected at least ${least} entries, found ${count}`)];
  if (typeof most === 'number' && count > most)
    return [errorAt(path, `Expected at most ${most} entries, found ${count}`)];
  return [];
}

function checkValue(value: Json, schema: KindSchema, path: string): readonly SpecProblem[] {
  const { enum: values, pattern, minLength, maxLength, minimum, maximum } = schema;
  if (Array.isArray(values) && !values.includes(value)) {
    const texts = values.map(String);
    const list = texts.map((each) => `"${each}"`).join(', ');
    return [
      errorAt(
        path,
        `Expected one of ${list}, found "${String(value)}"`,
        didYouMean(String(value), texts),
      ),
    ];
  }
  if (typeof value === 'string') {
    if (typeof minLength === 'number' && value.length < minLength)
      return [errorAt(path, 'Expected a text that is not empty')];
    if (typeof maxLength === 'number' && value.length > maxLength)
      return [errorAt(path, `Expected at most ${maxLength} characters, found ${value.length}`)];
    if (typeof pattern === 'string' && !new RegExp(pattern).test(value))
      return [errorAt(path, `Expected a duration such as "30s" or "10m", found "${value}"`)];
  }
  if (typeof value === 'number') {
    if (typeof minimum === 'number' && value < minimum)
      return [errorAt(path, `Expected at least ${minimum}, found ${value}`)];
    if (typeof maximum === 'number' && value > maximum)
      return [errorAt(path, `Expected at most ${maximum}, found ${value}`)];
  }
  return [];
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function named(type: Json | undefined): string {
  const names: Readonly<Record<string, string>> = {
    object: 'an object',
    array: 'a list',
    string: 'a text',
    integer: 'an integer',
    number: 'a number',
    boolean: 'a boolean',
    null: 'null',
  };
  return names[String(type)] ?? String(type);
}
