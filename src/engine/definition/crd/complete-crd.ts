import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { fieldOf, mapAt } from '../tree.ts';
import { withStandardStatus } from './standard-status.ts';

/** Fills in the optional names and flags of `spec.crd`. `metadata` stays next to the fields of the CRD spec. */
export function resolveCrd(crd: JsonObject): JsonObject {
  const names = mapAt(crd, '/names');
  const kind = String(names.kind);
  const versions = listOf(crd.versions);
  const isOnly = versions.length === 1;
  return {
    ...crd,
    names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
    versions: versions.map((version) => ({
      ...(isOnly ? { served: true, storage: true } : {}),
      ...(isJsonObject(version) ? version : {}),
    })),
  };
}

/**
 * The CustomResourceDefinition to install, with status subresource, standard status fields and printer columns.
 * @param isPlaced Does the definition have children in member clusters?
 */
export function completeCrd(resolved: JsonObject, isPlaced = false): KubeObject {
  const { metadata, ...spec } = resolved;
  const { labels, annotations } = mapAt({ metadata }, '/metadata');
  const plural = String(mapAt(spec, '/names').plural);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${String(spec.group)}`,
      ...(labels === undefined ? {} : { labels: labels as Readonly<Record<string, string>> }),
      ...(annotations === undefined
        ? {}
        : { annotations: annotations as Readonly<Record<string, string>> }),
    },
    spec: {
      // Stated: a webhook of another owner must not stay behind.
      conversion: { strategy: 'None' },
      ...spec,
      versions: listOf(spec.versions).map((version) => completeVersion(version, isPlaced)),
    },
  };
}

function completeVersion(version: Json, isPlaced: boolean): JsonObject {
  const authored = isJsonObject(version) ? version : {};
  return {
    ...authored,
    schema: {
      openAPIV3Schema: withStandardStatus(mapAt(authored, '/schema/openAPIV3Schema'), isPlaced),
    },
    subresources: { ...mapAt(authored, '/subresources'), status: {} },
    additionalPrinterColumns: withStandardColumns(listOf(authored.additionalPrinterColumns)),
  };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

const standardColumns = [
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
] as const satisfies readonly JsonObject[];

/** The author's columns, then `Ready`, `Reason` and `Age` unless the author defines a column of that name. */
function withStandardColumns(authored: readonly Json[]): readonly Json[] {
  const taken = new Set(authored.map((column) => String(fieldOf(column, 'name')).toLowerCase()));
  return [...authored, ...standardColumns.filter(({ name }) => !taken.has(name.toLowerCase()))];
}
