import type { OperatorDefinition } from '#definition';
import { apiVersionOf, gvkOf, isSameKind } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Why no definition can run a resource: none has its kind, or its expressions read another version. */
export function notServed(
  definitions: readonly OperatorDefinition[],
  { apiVersion, kind }: KubeObject,
): string {
  const wanted = gvkOf(apiVersion, kind);
  const other = definitions.find(({ kind: { gvk } }) => isSameKind(gvk, wanted));
  if (other === undefined) {
    const kinds = definitions.map((each) => each.kind.gvk.kind).join(', ');
    return `No definition serves kind "${kind}" (${apiVersion}), only ${kinds}`;
  }
  const read = apiVersionOf(other.kind.gvk);
  return `The resource is written in "${apiVersion}", but expressions of definition "${other.name}" read "${read}": write it in that version`;
}
