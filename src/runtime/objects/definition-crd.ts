import { createSchemaCompiler } from '../../compile/index.ts';
import { definitionSchema } from '../../definition/index.ts';
import { KubeError } from '../../kube/roles.ts';
import {
  appliedHashOf,
  covers,
  managedByLabel,
  managedByValue,
  pathHash,
  prepare,
  stamped,
} from '../../reconcile/index.ts';
import { backoffMs } from '../../util/backoff.ts';
import type { Clock } from '../../util/clock.ts';
import { HomeostatError } from '../../util/homeostat-error.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { crdGvk } from '../crd/crd-definition.ts';
import type { RuntimeCluster } from '../runner-options.ts';
import { definitionCrdName, definitionGvk } from './names.ts';
import { structuralSchema } from './structural-schema.ts';

/** Annotation on the CRD: its schema number. */
const schemaAnnotation = 'homeostat.dev/schema';
/** Incremented with every change of the schema, so that an older version of Homeostat does not downgrade the CRD. */
const schemaNumber = 1;

/** Whether the CRD has a newer schema than this version of Homeostat. Pure. */
function isNewerSchema({ metadata }: KubeObject): boolean {
  return Number(metadata.annotations?.[schemaAnnotation] ?? 0) > schemaNumber;
}

/** Builds the CRD of `OperatorDefinition` from the schema of the validator and editors. Pure. */
export function createDefinitionCrd(): KubeObject {
  const { group, version, kind } = definitionGvk;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: definitionCrdName,
      labels: { [managedByLabel]: managedByValue },
      annotations: { [schemaAnnotation]: String(schemaNumber) },
    },
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
      // Atomic: one author applies the whole `spec`, without leftovers of others.
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

function texts(description: string): JsonObject {
  return {
    type: 'array',
    description,
    'x-kubernetes-list-type': 'atomic',
    items: { type: 'string' },
  };
}

const statusSchema: JsonObject = {
  type: 'object',
  description: 'Status of the definition, written by Homeostat.',
  properties: {
    observedGeneration: count('The generation that this describes.'),
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
        properties: {
          type: text('`Ready` is the summary.'),
          status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
          reason: text('Reason in CamelCase.'),
          message: text('Message for users.'),
          observedGeneration: count('The generation that this describes.'),
          lastTransitionTime: { type: 'string', format: 'date-time' },
        },
      },
    },
    source: text('Origin of its manifest.'),
    revision: text('The revision that runs.'),
    apiVersion: text('API version of its kind.'),
    kind: text('Kind of its resources.'),
    instances: count('Number of resources.'),
    readyInstances: count('Number of ready resources.'),
    rollout: {
      type: 'object',
      description: 'Progress of a roll-out; absent when all resources have the new revision.',
      properties: {
        from: text('Revision.'),
        to: text('Revision.'),
        state: text('`previewing`, `rolling`, `held` or `stopped`.'),
        reached: count('Resources that have the new revision.'),
        total: count('All resources.'),
        deletions: count('Number of objects that the roll-out deletes.'),
        failed: texts('UIDs of resources that fail with the new revision and did not before.'),
      },
    },
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

/** Field manager of the CRD. */
const crdManager = 'homeostat/operatordefinitions.crd';
const flow = { name: 'definitions', priority: 'object' } as const;
/** Delays between discovery requests until the kind is served. */
const served = { baseDelayMs: 25, maxDelayMs: 10_000 };

const missingCrdMessage = `The kind OperatorDefinition is not served and the runtime may not install its CustomResourceDefinition: apply deploy/crds/${definitionCrdName}.yaml, or grant the runtime the right to create CustomResourceDefinitions`;

/**
 * Installs the CRD of `OperatorDefinition` and waits until it is served. Writes nothing if it is up to date, or if it is served and the
 * rights to write are missing.
 * @throws HomeostatError `kind-missing`: it is not served, and the rights to install it are missing; KubeError when another request fails.
 */
export async function installDefinitionCrd(
  { cluster, clock }: { readonly cluster: RuntimeCluster; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  try {
    let hasChanged = false;
    for (let tries = 0; ; tries++) {
      hasChanged = (await applyWhereNeeded(cluster, signal)) || hasChanged;
      if ((await cluster.lookUp(definitionGvk, signal)) !== undefined) break;
      // Wait until the established CRD is served, or until a terminating one is deleted.
      await clock.sleep(backoffMs(tries, served), signal);
    }
    if (hasChanged) cluster.kindChanged(definitionGvk);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'forbidden') throw error;
    if ((await cluster.lookUp(definitionGvk, signal)) !== undefined) return;
    throw new HomeostatError('kind-missing', missingCrdMessage, { cause: error });
  }
}

/** @returns whether the CRD was written. */
async function applyWhereNeeded(cluster: RuntimeCluster, signal: AbortSignal): Promise<boolean> {
  const [live, schema] = await Promise.all([
    cluster.get({ gvk: crdGvk, name: definitionCrdName }, { flow }, signal),
    cluster.fetchKindSchema(crdGvk, signal),
  ]);
  if (live?.object.metadata.deletionTimestamp !== undefined) return false;
  if (live !== undefined && isNewerSchema(live.object)) return false;
  const type = schema && createSchemaCompiler().compile(schema);
  const manifest = prepare(createDefinitionCrd(), type, { hasStatus: true });
  const hash = pathHash(manifest, type);
  if (live !== undefined && covers(manifest, live.object, type)) {
    // A CRD applied by hand is complete. One that an older Homeostat applied may have extra fields.
    const isOurs = live.appliedBy.includes(crdManager);
    if (!isOurs || appliedHashOf(live.object) === hash) return false;
  }
  const options = { fieldManager: crdManager, force: true, flow };
  await cluster.apply(stamped(manifest, hash), options, signal);
  return true;
}
