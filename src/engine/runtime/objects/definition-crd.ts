import { definitionSchema } from '#definition';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { fieldsOfParts } from '../view-parts.ts';
import { definitionCrdName, definitionGvk } from './names.ts';
import {
  column,
  conditionPath,
  conditionsSchema,
  count,
  createOwnCrd,
  type OwnKind,
  text,
  texts,
} from './own-kind.ts';

/** Builds the CRD of `OperatorDefinition` from the schema of the validator and editors. Pure. */
export function createDefinitionCrd(): KubeObject {
  return createOwnCrd(operatorDefinitionKind);
}

const columns = [
  column('Ready', conditionPath('Ready', 'status')),
  column('Reason', conditionPath('Ready', 'reason')),
  column('Kind', '.status.kind'),
  column('Instances', '.status.instances', { type: 'integer' }),
  column('Revision', '.status.revision'),
  column('Age', '.metadata.creationTimestamp', { type: 'date' }),
  column('Source', '.status.source', { priority: 1 }),
];

function rootSchema(): JsonObject {
  const { properties } = definitionSchema;
  const spec = isJsonObject(properties) && isJsonObject(properties.spec) ? properties.spec : {};
  return {
    type: 'object',
    description: 'A Homeostat operator definition.',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: {
        type: 'object',
        properties: {
          name: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
        },
      },
      // Atomic: one author applies the whole `spec`, without leftovers of others.
      spec: { ...structuralSchema(spec), 'x-kubernetes-map-type': 'atomic' },
      status: statusSchema,
    },
  };
}

const statusSchema: JsonObject = {
  type: 'object',
  description: 'Status of the definition, written by Homeostat.',
  properties: {
    observedGeneration: count('The generation that this describes.'),
    conditions: conditionsSchema,
    source: text('Origin of its manifest.'),
    revision: text('The revision that runs.'),
    apiVersion: text('API version of its kind.'),
    kind: text('Kind of its resources.'),
    instances: count('Number of resources.'),
    readyInstances: count('Number of ready resources.'),
    ...fieldsOfParts(({ statusSchema }) => statusSchema),
    revisions: {
      type: 'array',
      description: 'The accepted revision, then older ones that resources still have.',
      // Atomic: entries have no separate owners.
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        properties: {
          revision: text('Its digest.'),
          spec: {
            type: 'object',
            description: 'As written.',
            'x-kubernetes-preserve-unknown-fields': true,
          },
          places: {
            type: 'object',
            description: 'Where it is written; absent for a `spec` of a user.',
            properties: {
              file: text('Its manifest.'),
              positions: text('Lines and columns of the nodes of `spec`, as base64 VLQ.'),
            },
          },
        },
      },
    },
    kinds: {
      type: 'object',
      description: 'Kinds of current and previous resources and children, as `Kind.group`.',
      properties: {
        resources: texts('Kinds of its resources.'),
        children: texts('Kinds of their children.'),
      },
    },
  },
};

/** The kind `OperatorDefinition`. */
export const operatorDefinitionKind: OwnKind = {
  gvk: definitionGvk,
  crdName: definitionCrdName,
  shortName: 'opdef',
  schemaNumber: 1,
  columns,
  schema: rootSchema,
};

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
