import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { fieldOf } from '../tree.ts';

/** Status fields that every pass writes; a definition may not map them. */
export const standardStatusFields = [
  'conditions',
  'children',
  'childCounts',
  'childInventory',
  'definitionRevision',
  'observedGeneration',
] as const;

export type StandardStatusField = (typeof standardStatusFields)[number];

const text = { type: 'string' } as const;
const count = { type: 'integer' } as const;

/**
 * The schema of metav1.Condition, without the limits that would refuse a long message. Who writes a condition writes all of it,
 * so the server tracks who owns the condition and not who owns each of its fields: every write of the object costs it less.
 */
const condition = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  required: ['type', 'status'],
  properties: {
    type: text,
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: { type: 'integer', format: 'int64' },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: text,
    message: text,
  },
} as const satisfies JsonObject;

/** What stands in the installed schema for each of the fields that are always written. */
export const standardStatusSchemas: Readonly<Record<StandardStatusField, JsonObject>> = {
  conditions: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: condition,
  },
  children: {
    type: 'array',
    'x-kubernetes-list-type': 'atomic',
    items: {
      type: 'object',
      properties: {
        id: text,
        apiVersion: text,
        kind: text,
        namespace: text,
        name: text,
        state: text,
        message: text,
      },
    },
  },
  childCounts: {
    type: 'object',
    'x-kubernetes-map-type': 'atomic',
    properties: { total: count, ready: count, failed: count },
  },
  childInventory: {
    type: 'array',
    'x-kubernetes-list-type': 'atomic',
    items: text,
  },
  definitionRevision: text,
  observedGeneration: { type: 'integer', format: 'int64' },
};

/** Can we write our values into a field of which the author has this schema, once it is completed? */
export function takesStandardField(field: StandardStatusField, schema: Json | undefined): boolean {
  switch (field) {
    case 'conditions':
      return (
        fieldOf(schema, 'type') === 'array' &&
        fieldOf(fieldOf(schema, 'items'), 'type') === 'object'
      );
    case 'observedGeneration':
      return fieldOf(schema, 'type') === 'integer';
    case 'definitionRevision':
      return fieldOf(schema, 'type') === 'string';
    case 'children':
    case 'childCounts':
    case 'childInventory':
      return deepEqual(withoutTexts(schema), standardStatusSchemas[field]);
  }
}

/** The schema of a version with the standard status fields; what the author wrote of them is kept. */
export function withStandardStatus(root: JsonObject): JsonObject {
  const properties = mapOf(root.properties);
  const status = mapOf(properties.status);
  const authored = mapOf(status.properties);
  const standard = standardStatusFields.map((field) => {
    const own = authored[field];
    return [
      field,
      own === undefined ? standardStatusSchemas[field] : completed(field, own),
    ] as const;
  });
  return {
    ...root,
    properties: {
      ...properties,
      status: {
        type: 'object',
        ...status,
        properties: { ...authored, ...Object.fromEntries(standard) },
      },
    },
  };
}

/** Conditions of the author's get the properties they lack, else the server would drop what we write. */
function completed(field: StandardStatusField, own: Json): Json {
  if (field !== 'conditions' || !isJsonObject(own)) return own;
  const items = mapOf(own.items);
  return {
    ...own,
    items: { ...items, properties: { ...condition.properties, ...mapOf(items.properties) } },
  };
}

/** A schema without its descriptions. */
function withoutTexts(schema: Json | undefined): Json {
  if (Array.isArray(schema)) return schema.map(withoutTexts);
  if (!isJsonObject(schema)) return schema ?? null;
  const fields = Object.entries(schema).filter(([field]) => field !== 'description');
  return Object.fromEntries(fields.map(([field, value]) => [field, withoutTexts(value)]));
}

function mapOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
