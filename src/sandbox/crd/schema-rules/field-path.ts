import type { JsonObject } from '#util/json.ts';
import { fieldOf, objectField } from '../../json-fields.ts';

/** The result of a path in a schema: a field, or why there is none. */
type FoundField =
  | { readonly steps: readonly string[]; readonly schema: JsonObject | undefined }
  | { readonly problem: string };

interface FieldPathOptions {
  /** Allows fields in brackets: `.spec['a.b']`. */
  readonly allowsBrackets: boolean;
}

/** Resolves a path of dots and brackets (`.spec.size`) in a schema. */
export function followPath(
  root: JsonObject,
  path: string,
  { allowsBrackets }: FieldPathOptions,
): FoundField {
  const tokens = tokensOf(path);
  const steps: string[] = [];
  let schema: JsonObject | undefined = root;
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (token === '[' && !allowsBrackets) return { problem: 'array notation is not allowed' };
    if (token !== '.' && token !== '[') return { problem: `expected [ or . but got: ${token}` };
    const name = tokens.shift();
    if (name === undefined) return { problem: 'unexpected end of JSON path' };
    const isQuoted = /^'.*'$/s.test(name) && name.length > 1;
    if (token === '[' && !isQuoted)
      return { problem: `expected single quoted string but got ${name}` };
    const step = token === '[' ? name.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : name;
    const next = stepInto(schema, step);
    if (next === undefined) return { problem: 'does not refer to a valid field' };
    steps.push(step);
    schema = next.schema;
    if (token === '[') {
      const closing = tokens.shift();
      if (closing === undefined) return { problem: 'unexpected end of JSON path' };
      if (closing !== ']') return { problem: `expected ] but got ${closing}` };
    }
  }
  return { steps, schema };
}

/** Splits a path into dots, brackets, quoted names and plain names. */
function tokensOf(path: string): string[] {
  return path.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gs) ?? [];
}

function stepInto(
  schema: JsonObject | undefined,
  name: string,
): { readonly schema: JsonObject | undefined } | undefined {
  if (schema === undefined) return undefined;
  const fields = objectField(schema, 'properties') ?? {};
  if (Object.keys(fields).length > 0) {
    const field = objectField(fields, name);
    return field === undefined ? undefined : { schema: field };
  }
  if (fieldOf(schema, 'additionalProperties') === undefined) return undefined;
  return { schema: objectField(schema, 'additionalProperties') };
}
