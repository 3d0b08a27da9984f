import type { CrdKind } from '../../definition/index.ts';
import { type Gvk, gvkOf } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';

/** The kind of all CRDs. */
export const crdGvk: Gvk = gvkOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition');

/** The kind of a CRD as the server has it, for a definition that cannot say any more what it serves. Undefined: it is not to be read. */
export function storedKind(crd: KubeObject): CrdKind | undefined {
  const { spec } = crd;
  if (!isJsonObject(spec) || !isJsonObject(spec.names) || !Array.isArray(spec.versions)) {
    return undefined;
  }
  const stored = spec.versions.filter(isJsonObject).find(({ storage }) => storage === true);
  if (stored === undefined) return undefined;
  const { group, scope, names } = spec;
  return {
    source: 'crd',
    gvk: { group: String(group), version: String(stored.name), kind: String(names.kind) },
    plural: String(names.plural),
    scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced',
    crd,
    schema: {},
    crdPolicy: { adopt: false, deletion: 'Retain', allowBreakingChanges: false },
  };
}
