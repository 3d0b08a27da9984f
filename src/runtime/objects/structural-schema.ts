import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';

/** Keywords with the same meaning in JSON schema and in a CRD. */
const copiedKeywords = [
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
 * Converts a JSON schema (draft 7) to a structural schema that accepts at least the same values. It still rejects wrong types, unknown enum
 * values and missing fields. It does not describe unknown fields or defaults, so that the API server returns what was sent. Pure.
 */
export function structuralSchema(node: JsonObject): JsonObject {
  const { type, properties, additionalProperties, items } = node;
  const common = Object.fromEntries(
    copiedKeywords.flatMap((word) => (node[word] === undefined ? [] : [[word, node[word]]])),
  );
  const words = enumValuesOf(node);
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

function enumValuesOf({ const: only, enum: words }: JsonObject): readonly Json[] | undefined {
  if (only !== undefined) return [only];
  return Array.isArray(words) ? words : undefined;
}

/** Accepts any type including `null`, for nodes with several types. */
function anything({ description }: JsonObject): JsonObject {
  return {
    ...(description === undefined ? {} : { description }),
    nullable: true,
    'x-kubernetes-preserve-unknown-fields': true,
  };
}
