import { isJsonObject, type Json, objectAt } from '#util/json.ts';
import type { KindSchema } from '../kinds/schema.ts';

/** A value that a schema accepts, in place of a computed one. Pure. */
export function exampleValue(schema: KindSchema): Json {
  const { type, enum: values, minimum, minItems, minProperties, pattern } = schema;
  if (Array.isArray(values)) return (values[0] ?? '') as Json;
  switch (type) {
    case 'object':
      return objectAt(schema, 'additionalProperties') === undefined
        ? exampleFields(schema)
        : exampleMap(schema, typeof minProperties === 'number' ? minProperties : 0);
    case 'array': {
      const item = exampleValue(objectAt(schema, 'items') ?? {});
      return Array.from({ length: typeof minItems === 'number' ? minItems : 0 }, () => item);
    }
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : 0;
    case 'boolean':
      return false;
    default:
      return typeof pattern === 'string' ? '10s' : 'example';
  }
}

/** The required fields, or the first alternative. */
function exampleFields(schema: KindSchema): Json {
  const properties = objectAt(schema, 'properties') ?? {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const names = schema.oneOf === undefined ? required : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(
    names.flatMap((name) => {
      const field = properties[name];
      return isJsonObject(field) ? [[name, exampleValue(field)] as const] : [];
    }),
  );
}

function exampleMap(schema: KindSchema, count: number): Json {
  const value = exampleValue(objectAt(schema, 'additionalProperties') ?? {});
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, value]));
}
