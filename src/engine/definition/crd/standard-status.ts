import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { fieldOf, mapAt } from '../tree.ts';

/** Status fields that every reconcile writes; a definition cannot map them. */
export const standardStatusFields = [
  'conditions',
  'children',
  'childCounts',
  'childInventory',
  'definitionRevision',
  'observedGeneration',
] as const;

type StandardStatusField = (typeof standardStatusFields)[number];

const text = { type: 'string' } as const;
const count = { type: 'integer' } as const;

/**
 * The schema of metav1.Condition, without the limits that would reject a long message. A writer always writes a whole
 * condition, so the map is atomic: the server tracks one owner for each condition instead of one for each field,
 * which makes writes cheaper.
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

/** The schemas of the standard status fields. */
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

/** `children` of a definition with objects in member clusters: each also names its cluster. */
const placedChildren: JsonObject = withCluster(standardStatusSchemas.children);

function withCluster(children: JsonObject): JsonObject {
  const items = mapAt(children, '/items');
  return {
    ...children,
    items: { ...items, properties: { ...mapAt(items, '/properties'), cluster: text } },
  };
}

/** Whether this is the schema of a standard status field, as Homeostat generates it. */
export function isStandardStatusSchema(field: string, schema: Json | undefined): boolean {
  const standard = new Map(Object.entries(standardStatusSchemas)).get(field);
  return deepEqual(standard, schema) || (field === 'children' && deepEqual(placedChildren, schema));
}

/** Whether Homeostat can write a standard field to a field with the author's schema, after its completion. */
export function acceptsStandardField(
  field: StandardStatusField,
  schema: Json | undefined,
): boolean {
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
      return isStandardStatusSchema(field, withoutTexts(schema));
  }
}

/**
 * Adds the standard status fields to the schema of a version. Fields that the author defines are kept.
 * @param isPlaced Does the definition have children in member clusters?
 */
export function withStandardStatus(root: JsonObject, isPlaced: boolean): JsonObject {
  const properties = mapAt(root, '/properties');
  const status = mapAt(properties, '/status');
  const authored = mapAt(status, '/properties');
  const standard = standardStatusFields.map((field) => {
    const own = authored[field];
    return [field, own === undefined ? schemaOf(field, isPlaced) : completed(field, own)] as const;
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

function schemaOf(field: StandardStatusField, isPlaced: boolean): JsonObject {
  return isPlaced && field === 'children' ? placedChildren : standardStatusSchemas[field];
}

/** Adds missing properties to the author's conditions; otherwise the server would prune them. */
function completed(field: StandardStatusField, own: Json): Json {
  if (field !== 'conditions' || !isJsonObject(own)) return own;
  const items = mapAt(own, '/items');
  return {
    ...own,
    items: { ...items, properties: { ...condition.properties, ...mapAt(items, '/properties') } },
  };
}

/** A schema without its descriptions. */
function withoutTexts(schema: Json | undefined): Json {
  if (Array.isArray(schema)) return schema.map(withoutTexts);
  if (!isJsonObject(schema)) return schema ?? null;
  const fields = Object.entries(schema).filter(([field]) => field !== 'description');
  return Object.fromEntries(fields.map(([field, value]) => [field, withoutTexts(value)]));
}
