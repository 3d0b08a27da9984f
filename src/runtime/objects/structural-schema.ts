import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';

/** Says the same in a CRD's schema as in JSON schema. */
const kept = [
  'description',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'required',
];

/**
 * The structural schema that takes everything which a JSON schema (draft 7) takes, and refuses what can be refused so: wrong types of
 * fields that have one, words that are none of those there are, missing fields. Unknown fields have no place in it, defaults neither:
 * what comes back from a server is what was sent. Pure.
 */
export function structuralSchema(node: JsonObject): JsonObject {
  const { type, properties, additionalProperties, items } = node;
  const common = Object.fromEntries(
    kept.flatMap((word) => (node[word] === undefined ? [] : [[word, node[word]]])),
  );
  const words = wordsOf(node);
  if (words !== undefined) {
    return { ...common, type: typeof words[0] === 'boolean' ? 'boolean' : 'string', enum: words };
  }
  if (typeof type !== 'string') return anything(node);
  if (type === 'array') {
    return { ...common, type, items: isJsonObject(items) ? structuralSchema(items) : anything({}) };
  }
  if (type !== 'object') return { ...common, type };
  if (isJsonObject(properties))
    return { ...common, type, properties: structuralFields(properties) };
  if (isJsonObject(additionalProperties)) {
    return { ...common, type, additionalProperties: structuralSchema(additionalProperties) };
  }
  return { ...common, type, 'x-kubernetes-preserve-unknown-fields': true };
}

function structuralFields(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      structuralSchema(isJsonObject(field) ? field : {}),
    ]),
  );
}

function wordsOf({ const: only, enum: words }: JsonObject): readonly Json[] | undefined {
  if (only !== undefined) return [only];
  return Array.isArray(words) ? words : undefined;
}

/** A value of any type, `null` too: what has two types can have none here. */
function anything({ description }: JsonObject): JsonObject {
  return {
    ...(description === undefined ? {} : { description }),
    nullable: true,
    'x-kubernetes-preserve-unknown-fields': true,
  };
}
