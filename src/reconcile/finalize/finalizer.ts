import type { KubeObject } from '../../util/kube-object.ts';
import { finalizerOf } from '../names.ts';

/** Does the resource wait for us before it goes? */
export function hasFinalizer({ metadata }: KubeObject, definition: string): boolean {
  return metadata.finalizers?.includes(finalizerOf(definition)) === true;
}
