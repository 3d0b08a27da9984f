import type { SchemaType } from '#compile';
import type { JsonObject } from '#util/json.ts';
import { type Jsonata, level, operand, quoted } from '../cel/jsonata.ts';
import {
  booleanType,
  integerType,
  listOf,
  mapType,
  numberType,
  textType,
  unknownType,
} from '../cel/value-type.ts';
import { joinedParts, type Part } from '../template-text.ts';

/** A value that a patch writes: an expression, and what must exist so that it is written. */
export interface Value extends Jsonata {
  /** Paths that may be missing. Empty: it is always written. */
  readonly needs: readonly string[];
  /** For a text: literals and values. */
  readonly parts?: readonly Part[];
  /** Values that the field can have. */
  readonly choices?: readonly unknown[];
  readonly schema?: JsonObject | undefined;
}

/** The type of an OpenAPI schema, as far as transforms distinguish it. */
export function typeOfSchema(schema: JsonObject | undefined): SchemaType {
  if (schema?.['x-kubernetes-int-or-string'] === true) return unknownType;
  switch (schema?.type) {
    case 'string':
      return textType;
    case 'integer':
      return integerType;
    case 'number':
      return numberType;
    case 'boolean':
      return booleanType;
    case 'array':
      return listOf(unknownType);
    case 'object':
      return mapType;
    default:
      return unknownType;
  }
}

/** A path, or a function call. */
export function pathValue(text: string, isAlways: boolean, schema?: JsonObject): Value {
  const choices = Array.isArray(schema?.enum) ? schema.enum : undefined;
  return {
    text,
    level: level.path,
    type: typeOfSchema(schema),
    schema,
    presence: isAlways ? 'always' : 'maybe',
    needs: isAlways ? [] : [text],
    ...(choices && { choices }),
  };
}

/** Another expression with the same needs. */
export function derived(
  { needs }: Pick<Value, 'needs'>,
  text: string,
  type: SchemaType,
  at: number = level.path,
): Value {
  return { text, type, level: at, presence: 'always', needs };
}

/** A text of literals and values, which exists if all its values do. */
export function textValue(parts: readonly Part[], values: readonly Value[]): Value {
  const needs = [...new Set(values.flatMap((each) => each.needs))];
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'string')
    return { ...derived({ needs }, quoted(only), textType), parts };
  return { ...joinedParts(parts), needs, parts };
}

/** Is the value missing by itself while what it needs is missing? */
function isPlain({ text, needs }: Value): boolean {
  return needs.length === 1 && needs[0] === text;
}

/** The value where it exists, else the other expression. */
export function guarded(value: Value, otherwise?: string): Jsonata {
  if (value.needs.length === 0) return value;
  if (isPlain(value) && otherwise === undefined) return value;
  if (isPlain(value))
    return { ...value, text: `${value.text} ?? ${otherwise}`, level: level.default };
  const test = value.needs.map((each) => `$exists(${each})`).join(' and ');
  const then = operand(value, level.choice + 1);
  const text = `${test} ? ${then}${otherwise === undefined ? '' : ` : ${otherwise}`}`;
  return { ...value, text, level: level.choice };
}
