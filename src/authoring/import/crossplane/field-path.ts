import { isJsonObject, type JsonObject } from '#util/json.ts';
import { step } from '../cel/jsonata.ts';

/** A field, the index of an item, or all items. */
export type PathStep = string | number | typeof everyItem;

/** `[*]` */
export const everyItem: unique symbol = Symbol('every item');

/** `spec.list[0].tags[a.b/c]`, also with quotes in the brackets. Undefined: it has another form. */
export function parseFieldPath(text: string): readonly PathStep[] | undefined {
  const steps: PathStep[] = [];
  const pattern = /\.?([^.[\]]+)|\[(\d+)\]|\[(\*)\]|\[(?:"([^"]+)"|'([^']+)'|([^\]]+))\]/y;
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) return undefined;
    const [, name, index, wildcard, double, single, bare] = match;
    if (index !== undefined) steps.push(Number(index));
    else if (wildcard !== undefined) steps.push(everyItem);
    else steps.push(name ?? double ?? single ?? bare ?? '');
  }
  return steps.length === 0 ? undefined : steps;
}

/** The steps as a JSONata path. */
export function jsonataPath(steps: readonly PathStep[]): string {
  return steps
    .map((each, index) => {
      if (typeof each === 'number') return `[${each}]`;
      if (typeof each === 'symbol') return '';
      return index === 0 ? step(each) : `.${step(each)}`;
    })
    .join('');
}

/** A field in an OpenAPI schema. */
export interface SchemaField {
  /** Undefined: it may have any value. */
  readonly schema: JsonObject | undefined;
  /** Every object has it. */
  readonly isAlways: boolean;
}

/** The field at a path. Undefined: the schema does not have it, so no object has it. */
export function schemaFieldAt(
  root: JsonObject,
  steps: readonly PathStep[],
): SchemaField | undefined {
  let field: SchemaField = { schema: root, isAlways: true };
  for (const each of steps) {
    const next = fieldBelow(field, each);
    if (next === undefined) return undefined;
    field = next;
  }
  return field;
}

const open: SchemaField = { schema: undefined, isAlways: false };

function fieldBelow({ schema, isAlways }: SchemaField, each: PathStep): SchemaField | undefined {
  if (schema === undefined) return open;
  if (typeof each !== 'string')
    return isJsonObject(schema.items) ? { schema: schema.items, isAlways: false } : open;
  const { properties, additionalProperties, required } = schema;
  const own = isJsonObject(properties) ? properties[each] : undefined;
  if (isJsonObject(own)) {
    const isRequired = Array.isArray(required) && required.includes(each);
    return { schema: own, isAlways: isAlways && (isRequired || own.default !== undefined) };
  }
  if (isJsonObject(additionalProperties)) return { schema: additionalProperties, isAlways: false };
  const isOpen =
    additionalProperties === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    (schema.type !== 'object' && schema.type !== undefined);
  return isOpen || schema.properties === undefined ? open : undefined;
}
