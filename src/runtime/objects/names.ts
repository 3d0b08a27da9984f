import { definitionApiVersion, definitionKind } from '../../definition/index.ts';
import type { Flow, PassToken } from '../../kube/roles.ts';
import { type Gvk, gvkOf } from '../../util/gvk.ts';

/** Names stored in clusters. They must never change. */

/** `OperatorDefinition`: every definition, from any source. */
export const definitionGvk: Gvk = gvkOf(definitionApiVersion, definitionKind);
/** Name of its CRD. */
export const definitionCrdName = 'operatordefinitions.homeostat.dev';

/** Label on a ConfigMap, `"true"`: its keys contain definitions. */
export const definitionsLabel = 'homeostat.dev/definitions';
/** Label on a published `OperatorDefinition`: `configmap` or `directory`. Without it, a user created the object. */
export const sourceLabel = 'homeostat.dev/source';
/** Annotation on a published object: the manifest's origin, `namespace/name/key` or a path. */
export const sourceRefAnnotation = 'homeostat.dev/source-ref';

/** Label on an object of a definition and on its CRD: the runtime that owns it. */
export const runtimeLabel = 'homeostat.dev/runtime';
/** Annotation on CRDs and Leases in a member: the UID of the hub that owns them. */
export const hubAnnotation = 'homeostat.dev/hub';
/** Annotation on a published object: errors of its newest manifest. */
export const rejectedAnnotation = 'homeostat.dev/rejected';
/** Annotation on a published object: when its manifest was removed. */
export const withdrawnAnnotation = 'homeostat.dev/withdrawn';
/** Annotation on an `OperatorDefinition` that is being deleted, `"true"`: orphan its resources. */
export const abandonAnnotation = 'homeostat.dev/abandon';
/** Finalizer on every `OperatorDefinition` that a runtime owns. */
export const definitionFinalizer = 'homeostat.dev/definition';

/** Requests for definitions have a lower priority than those for resources. */
export function flowOf(definition: string): Flow {
  return { name: definition, priority: 'status' };
}

/** Writers of `OperatorDefinition` objects. */
type ObjectWriterName = 'publisher' | 'controller';

/** Marks a write, so that its watch event does not enqueue the writer again. */
export function passTokenOf(definition: string, writer: ObjectWriterName): PassToken {
  const own = passName(writer);
  return { key: `${own}/${definition}`, definition: own };
}

export function isWriteOf(writer: ObjectWriterName, pass: PassToken | undefined): boolean {
  return pass?.definition === passName(writer);
}

function passName(writer: ObjectWriterName): string {
  return `homeostat.dev/operatordefinitions/${writer}`;
}
