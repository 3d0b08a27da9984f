import type { Clock } from '#util/clock.ts';
import { gvkOf } from '#util/gvk.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  column,
  conditionPath,
  conditionsSchema,
  count,
  createOwnCrd,
  installOwnCrd,
  type OwnKind,
  text,
  texts,
} from '../objects/own-kind.ts';
import type { RuntimeCluster } from '../runner-options.ts';
import { fieldsOfParts } from '../view-parts.ts';

/** The kind `Cluster`: a member in which this runtime works. */
export const clusterGvk = gvkOf('homeostat.dev/v1alpha1', 'Cluster');

const name = { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' };

const spec: JsonObject = {
  type: 'object',
  required: ['kubeconfig'],
  properties: {
    kubeconfig: {
      type: 'object',
      description: 'The kubeconfig of the cluster.',
      required: ['secretRef'],
      properties: {
        secretRef: {
          type: 'object',
          description: 'The Secret that contains it.',
          required: ['name'],
          properties: {
            namespace: text('Default: the namespace of the runtime.'),
            name: text('Name of the Secret.'),
            key: text('Default: "kubeconfig", else "value".'),
          },
        },
        context: text('Default: its current-context.'),
      },
    },
    uid: text('The expected UID of the namespace kube-system of the cluster.'),
    paused: { type: 'boolean', description: 'Connected, but nothing is written there.' },
  },
};

const definitions: JsonObject = {
  type: 'array',
  description: 'Definitions that run there, or have something to finish there.',
  // Atomic: one writer.
  'x-kubernetes-list-type': 'atomic',
  items: {
    type: 'object',
    required: ['name'],
    properties: {
      name: text('Of the OperatorDefinition.'),
      revision: text('The accepted revision.'),
      older: texts('Older revisions that resources have.'),
      state: text('`Running`, `Starting`, `Failing`, `Finalizing` or `Uninstalling`.'),
      reason: text('Why it fails, in CamelCase.'),
      message: text('Message for users.'),
      resources: count('Number of resources.'),
      ready: count('Number of ready resources.'),
      ...fieldsOfParts(({ entrySchema }) => entrySchema),
      kinds: {
        type: 'object',
        properties: {
          resources: texts('Kinds of its resources.'),
          children: texts('Kinds of their children.'),
        },
      },
    },
  },
};

/** The kind `Cluster` and its CRD. */
export const clusterKind: OwnKind = {
  gvk: clusterGvk,
  crdName: 'clusters.homeostat.dev',
  shortName: 'hcl',
  schemaNumber: 1,
  columns: [
    column('Connected', conditionPath('Connected', 'status')),
    column('Ready', conditionPath('Ready', 'status')),
    column('Reason', conditionPath('Ready', 'reason')),
    column('Version', '.status.version'),
    column('Definitions', '.status.definitions[*].name'),
    column('Age', '.metadata.creationTimestamp', { type: 'date' }),
  ],
  schema: () => ({
    type: 'object',
    description: 'A member cluster of Homeostat.',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', properties: { name } },
      spec,
      status: {
        type: 'object',
        description: 'Status of the member, written by Homeostat.',
        properties: {
          observedGeneration: count('The generation that this describes.'),
          conditions: conditionsSchema,
          uid: text('UID of its namespace kube-system.'),
          version: text('Version of its API server.'),
          definitions,
          placed: count('Objects that resources of the hub have there.'),
        },
      },
    },
  }),
};

/** Builds the CRD of `Cluster`. Pure. */
export function createClusterCrd(): KubeObject {
  return createOwnCrd(clusterKind);
}

/** Installs the CRD of `Cluster`, and waits until it is served. @throws KubeError */
export function ensureClusterKind(
  cluster: RuntimeCluster,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  return installOwnCrd(clusterKind, { cluster, clock }, signal);
}
