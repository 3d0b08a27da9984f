import type { CrdKind, LocatedDefinition, OperatorDefinition } from '#definition';
import type { Gvk } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';

/**
 * The kind of the resource that stands for a definition. No API server has it: the runtime shows the object of the definition as one, so that
 * objects of `install` may be of every kind, also other definitions.
 */
export const installGvk: Gvk = {
  group: 'homeostat.dev',
  version: 'v1alpha1',
  kind: 'OperatorDefinitionInstall',
};

const text = { type: 'string' } as const;
const texts = { type: 'object', additionalProperties: text } as const;
const metadata = {
  type: 'object',
  required: ['name'],
  properties: { name: text, labels: texts, annotations: texts },
} as const;
const schema = {
  type: 'object',
  required: ['definition'],
  properties: {
    definition: { type: 'object', required: ['metadata'], properties: { metadata } },
    status: { type: 'object', properties: {} },
  },
} as const;

/** The kind of {@link installGvk}. */
export const installKind: CrdKind = {
  source: 'crd',
  gvk: installGvk,
  plural: 'operatordefinitioninstalls',
  scope: 'Cluster',
  // Never installed.
  crd: { apiVersion: 'v1', kind: 'None', metadata: { name: 'none' } },
  schema,
  crdPolicy: { adopt: false, deletion: 'Retain', allowBreakingChanges: false },
};

/** How many objects an edit of a definition may delete without an approval. */
export function deletionLimitOf({ controller }: OperatorDefinition): number {
  return controller.rollout.maxDeletions;
}

/** What of the definition the objects of `install` may use. */
export interface UsedParts {
  readonly vars: ReadonlySet<string>;
  readonly reads: ReadonlySet<string>;
}

/**
 * The definition of the objects of `install`: they are the children of one cluster-scoped resource, which stands for the definition.
 * @param used @default all vars and reads
 */
export function installDefinitionOf(
  { definition, document, pointers, source }: LocatedDefinition,
  used?: UsedParts,
): LocatedDefinition {
  const { name, revision, vars, reads, install = [], removalPolicy } = definition;
  const { clusters: _, namespaces: __, ...controller } = definition.controller;
  const isUsed = (id: string) => used === undefined || used.reads.has(id);
  const derived: OperatorDefinition = {
    name,
    revision,
    kind: installKind,
    vars: Object.fromEntries(
      Object.entries(vars).filter(([id]) => used === undefined || used.vars.has(id)),
    ),
    // Versions are kept for resources.
    reads: reads.filter(({ id }) => isUsed(id)).map(({ history: ___, ...read }) => read),
    children: install,
    status: {},
    controller,
    removalPolicy,
  };
  const { spec } = document;
  return {
    definition: derived,
    source,
    document: {
      ...document,
      ...(isJsonObject(spec) && {
        spec: { vars: spec.vars ?? {}, reads: spec.reads ?? [], children: spec.install ?? [] },
      }),
    },
    pointers: {
      reads: pointers.reads.filter((_pointer, index) => isUsed(reads[index]?.id ?? '')),
      children: pointers.install ?? [],
      onDelete: [],
    },
  };
}
