import { definitionSchema } from '../../definition/index.ts';
import { managedByLabel, managedByValue } from '../../reconcile/index.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { definitionCrdName, definitionGvk } from './names.ts';
import { structuralSchema } from './structural-schema.ts';

/** The CRD of `OperatorDefinition`, made of the schema that the validator and editors use. Pure. */
export function createDefinitionCrd(): KubeObject {
  const { group, version, kind } = definitionGvk;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: definitionCrdName, labels: { [managedByLabel]: managedByValue } },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural: definitionCrdName.slice(0, definitionCrdName.indexOf('.')),
        singular: kind.toLowerCase(),
        shortNames: ['opdef'],
      },
      scope: 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: rootSchema() },
        },
      ],
    },
  };
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

function column(name: string, jsonPath: string, more: JsonObject = {}): JsonObject {
  return { name, jsonPath, type: 'string', ...more };
}

function conditionPath(type: string, field: string): string {
  return `.status.conditions[?(@.type=="${type}")].${field}`;
}

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
      // One text, of one author: whoever applies it applies all of it, and no field of another one stays in it.
      spec: { ...structuralSchema(spec), 'x-kubernetes-map-type': 'atomic' },
      status: statusSchema,
    },
  };
}

function text(description: string): JsonObject {
  return { type: 'string', description };
}

function count(description: string): JsonObject {
  return { type: 'integer', format: 'int64', description };
}

const statusSchema: JsonObject = {
  type: 'object',
  description: 'Where the definition stands. Written by Homeostat.',
  properties: {
    observedGeneration: count('The generation that this is about.'),
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
        properties: {
          type: text('`Ready` sums up.'),
          status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
          reason: text('In one word.'),
          message: text('For people.'),
          observedGeneration: count('The generation that this is about.'),
          lastTransitionTime: { type: 'string', format: 'date-time' },
        },
      },
    },
    source: text('Where its text stands.'),
    revision: text('The revision that runs.'),
    apiVersion: text('Of the kind that it works on.'),
    kind: text('The kind that it works on.'),
    instances: count('Resources of that kind.'),
    readyInstances: count('Those of them that are ready.'),
    rollout: {
      type: 'object',
      description:
        'How a change reaches the resources that are there; absent when it has reached all.',
      properties: {
        from: text('Revision.'),
        to: text('Revision.'),
        state: text('`previewing`, `rolling`, `held` or `stopped`.'),
        reached: count('Resources that have the new revision.'),
        total: count('All resources.'),
        deletions: count('Objects that it deletes.'),
      },
    },
  },
};
