import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { isMirror } from '../objects/index.ts';
import type { RemovalTerms } from '../wanted-definition.ts';

/** On an `OperatorDefinition` that is its own source and says that something goes with it: it waits for us when a user deletes it. */
export const removalFinalizer = 'homeostat.dev/removal';

/** What goes with the definition when a user deletes this object, as it is written there. Nothing goes with a mirror. */
export function termsIn(object: KubeObject): RemovalTerms {
  const spec = isJsonObject(object.spec) && !isMirror(object) ? object.spec : {};
  const policy = isJsonObject(spec.crdPolicy) ? spec.crdPolicy : {};
  return {
    children: spec.removalPolicy === 'Delete',
    crd: spec.crd !== undefined && policy.deletion === 'Delete',
  };
}

/** Does anything go with it? */
export function isAsking({ children, crd }: RemovalTerms): boolean {
  return children || crd;
}

/** Does the object wait for us before it goes? */
export function hasRemovalFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(removalFinalizer) === true;
}

/** What is to go before an object may that a user deletes; undefined: nobody deletes it, or it does not wait for us. */
export function removalOf(object: KubeObject): RemovalTerms | undefined {
  const isGoing = object.metadata.deletionTimestamp !== undefined;
  return isGoing && hasRemovalFinalizer(object) ? termsIn(object) : undefined;
}
