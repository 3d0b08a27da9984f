import { createSchemaCompiler } from '#compile';
import { KubeError } from '#kube/roles.ts';
import {
  appliedHashOf,
  covers,
  managedByLabel,
  managedByValue,
  pathHash,
  prepare,
  stamped,
} from '#reconcile';
import { backoffMs } from '#util/backoff.ts';
import type { Clock } from '#util/clock.ts';
import type { Gvk } from '#util/gvk.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { schemaAnnotation } from '#util/stored-names.ts';
import { crdGvk } from '../crd/crd-definition.ts';
import type { RuntimeCluster } from '../runner-options.ts';

/** A kind of Homeostat, whose CRD the runtime installs. */
export interface OwnKind {
  readonly gvk: Gvk;
  /** Name of its CRD. */
  readonly crdName: string;
  /** @default 'Cluster' */
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly shortName: string;
  /** Incremented with every change of the schema, so that an older version of Homeostat does not downgrade the CRD. */
  readonly schemaNumber: number;
  readonly columns: readonly JsonObject[];
  /** Schema of the whole object. */
  readonly schema: () => JsonObject;
}

/** Builds the CRD. Pure. */
export function createOwnCrd(own: OwnKind): KubeObject {
  const { gvk, crdName, scope = 'Cluster', shortName, schemaNumber, columns, schema } = own;
  const { group, version, kind } = gvk;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: crdName,
      labels: { [managedByLabel]: managedByValue },
      annotations: { [schemaAnnotation]: String(schemaNumber) },
    },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural: crdName.slice(0, crdName.indexOf('.')),
        singular: kind.toLowerCase(),
        shortNames: [shortName],
      },
      scope,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: schema() },
        },
      ],
    },
  };
}

export function column(name: string, jsonPath: string, more: JsonObject = {}): JsonObject {
  return { name, jsonPath, type: 'string', ...more };
}

export function conditionPath(type: string, field: string): string {
  return `.status.conditions[?(@.type=="${type}")].${field}`;
}

export function text(description: string): JsonObject {
  return { type: 'string', description };
}

export function count(description: string): JsonObject {
  return { type: 'integer', format: 'int64', description };
}

export function texts(description: string): JsonObject {
  return {
    type: 'array',
    description,
    'x-kubernetes-list-type': 'atomic',
    items: { type: 'string' },
  };
}

/** The schema of `status.conditions`. */
export const conditionsSchema: JsonObject = {
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
};

const flow = { name: 'definitions', priority: 'object' } as const;
/** Delays between discovery requests until the kind is served. */
const served = { baseDelayMs: 25, maxDelayMs: 10_000 };

function missingCrdMessage({ gvk, crdName }: OwnKind): string {
  return `The kind ${gvk.kind} is not served and the runtime may not install its CustomResourceDefinition: apply deploy/crds/${crdName}.yaml, or grant the runtime the right to create CustomResourceDefinitions`;
}

/**
 * Installs the CRD and waits until it is served. Writes nothing if it is up to date, or if it is served and the
 * rights to write are missing.
 * @throws HomeostatError `kind-missing`: it is not served, and the rights to install it are missing; KubeError when another request fails.
 */
export async function installOwnCrd(
  own: OwnKind,
  { cluster, clock }: { readonly cluster: RuntimeCluster; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  try {
    const writes = new Set<Write>();
    for (let tries = 0; ; tries++) {
      writes.add(await applyWhereNeeded(own, cluster, signal));
      if ((await cluster.lookUp(own.gvk, signal)) !== undefined) break;
      // Wait until the established CRD is served, or until a terminating one is deleted.
      await clock.sleep(backoffMs(tries, served), signal);
    }
    if (writes.has('changed')) cluster.kindChanged(own.gvk);
    else if (writes.has('created')) cluster.kindCreated(own.gvk);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'forbidden') throw error;
    if ((await cluster.lookUp(own.gvk, signal)) !== undefined) return;
    throw new HomeostatError('kind-missing', missingCrdMessage(own), { cause: error });
  }
}

/** What was done to the CRD. */
type Write = 'none' | 'created' | 'changed';

async function applyWhereNeeded(
  own: OwnKind,
  cluster: RuntimeCluster,
  signal: AbortSignal,
): Promise<Write> {
  const { crdName, schemaNumber } = own;
  const crdManager = `homeostat/${crdName.slice(0, crdName.indexOf('.'))}.crd`;
  const [live, schema] = await Promise.all([
    cluster.get({ gvk: crdGvk, name: crdName }, { flow }, signal),
    cluster.fetchKindSchema(crdGvk, signal),
  ]);
  if (live?.object.metadata.deletionTimestamp !== undefined) return 'none';
  const installed = Number(live?.object.metadata.annotations?.[schemaAnnotation] ?? 0);
  if (installed > schemaNumber) return 'none';
  const type = schema && createSchemaCompiler().compile(schema);
  const manifest = prepare(createOwnCrd(own), type, { hasStatus: true });
  const hash = pathHash(manifest, type);
  if (live !== undefined && covers(manifest, live.object, type)) {
    // A CRD applied by hand is complete. One that an older Homeostat applied may have extra fields.
    const isOurs = live.appliedBy.includes(crdManager);
    if (!isOurs || appliedHashOf(live.object) === hash) return 'none';
  }
  const options = { fieldManager: crdManager, force: true, flow };
  const { created } = await cluster.apply(stamped(manifest, hash), options, signal);
  return created ? 'created' : 'changed';
}
