import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { mapAt } from '../tree.ts';
import { withStandardColumns } from './printer-columns.ts';
import { withStandardStatus } from './standard-status.ts';

/** `spec.crd` with the names and flags that may be left out. `metadata` stays beside the fields of the CRD's spec. */
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

/** The CustomResourceDefinition to install: with the status subresource, the standard status fields and printer columns. */
export function completeCrd(resolved: JsonObject): KubeObject {
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
    spec: { ...spec, versions: listOf(spec.versions).map(completeVersion) },
  };
}

function completeVersion(version: Json): JsonObject {
  const authored = isJsonObject(version) ? version : {};
  return {
    ...authored,
    schema: { openAPIV3Schema: withStandardStatus(mapAt(authored, '/schema/openAPIV3Schema')) },
    subresources: { ...mapAt(authored, '/subresources'), status: {} },
    additionalPrinterColumns: withStandardColumns(listOf(authored.additionalPrinterColumns)),
  };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
