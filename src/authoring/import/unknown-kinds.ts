import { bundledSchemas } from '#compile';
import { permissiveCrd } from '#simulation';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { ImportedDefinition } from './importer.ts';

/** Kinds that definitions use, and neither define nor Kubernetes has. */
export class UnknownKinds {
  readonly #crds = new Map<string, KubeObject>();

  constructor(definitions: readonly ImportedDefinition[]) {
    const own = new Set(definitions.map(({ kind }) => groupKind(kind)));
    for (const { definition } of definitions) {
      const spec = isJsonObject(definition.spec) ? definition.spec : {};
      for (const use of [...useOfEach(spec.children, 'template'), ...useOfEach(spec.reads)]) {
        const { apiVersion, kind } = use.object;
        const gvk = gvkOf(String(apiVersion), String(kind));
        const isKnown = bundledSchemas().isNamespaced(gvk) !== undefined || own.has(groupKind(gvk));
        if (isKnown) continue;
        const isCluster = use.isCluster || isClusterKind(spec, use.object);
        this.#crds.set(groupKind(gvk), permissiveCrd(gvk, { isCluster }));
      }
    }
  }

  /** CustomResourceDefinitions for a simulated cluster. */
  get crds(): readonly KubeObject[] {
    return [...this.#crds.values()];
  }

  has({ apiVersion, kind }: KubeObject): boolean {
    return this.#crds.has(groupKind(gvkOf(apiVersion, kind)));
  }
}

function groupKind({ group, kind }: Gvk): string {
  return `${group}/${kind}`;
}

interface Use {
  readonly object: JsonObject;
  readonly isCluster: boolean;
}

function useOfEach(list: Json | undefined, field?: string): readonly Use[] {
  return (Array.isArray(list) ? list : []).filter(isJsonObject).flatMap((entry): readonly Use[] => {
    const object = field === undefined ? entry : entry[field];
    if (!isJsonObject(object)) return [];
    const metadata = isJsonObject(object.metadata) ? object.metadata : object;
    return [
      { object, isCluster: entry.crossNamespace === true && metadata.namespace === undefined },
    ];
  });
}

/** Kinds of Crossplane itself, and objects without a namespace of a cluster-scoped resource. */
function isClusterKind({ crd }: JsonObject, { apiVersion, metadata }: JsonObject): boolean {
  if (String(apiVersion).startsWith('apiextensions.crossplane.io/')) return true;
  const isCluster = isJsonObject(crd) && crd.scope === 'Cluster';
  return isCluster && isJsonObject(metadata) && metadata.namespace === undefined;
}
