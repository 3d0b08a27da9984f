import { definitionApiVersion, definitionKind } from '../../definition/index.ts';
import { type Gvk, gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';

/** What a cluster remembers of definitions. None of these names may ever change. */

/** `OperatorDefinition`: every definition that there is, whatever its source. */
export const definitionGvk: Gvk = gvkOf(definitionApiVersion, definitionKind);
/** The CRD that brings that kind. */
export const definitionCrdName = 'operatordefinitions.homeostat.dev';

/** On a ConfigMap, `"true"`: its keys hold definitions. */
export const definitionsLabel = 'homeostat.dev/definitions';
/** On an `OperatorDefinition`, `configmap` or `directory`: it is a mirror of a text that stands there. Without it the object is its own source. */
export const sourceLabel = 'homeostat.dev/source';
/** On a mirror: where its text stands, `namespace/name/key` or a path. */
export const sourceRefAnnotation = 'homeostat.dev/source-ref';
/** On a mirror of a directory: the runtime that reads it. Many machines have the same paths. */
export const sourceRuntimeAnnotation = 'homeostat.dev/source-runtime';

/** Is the object only a picture of a text in a ConfigMap or a directory? */
export function isMirror({ metadata }: KubeObject): boolean {
  return metadata.labels?.[sourceLabel] !== undefined;
}
