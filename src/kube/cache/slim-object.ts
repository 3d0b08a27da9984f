import type { KubeObject } from '../../util/kube-object.ts';
import { selects } from '../../util/label-selector.ts';
import type { StoredObject, WholeObjects } from '../roles.ts';

/** What is held of an object. Depends on the object alone, so that the same version is always the same. */
export type Keep = (stored: StoredObject) => StoredObject;

/** Holds whole what matters, and of everything else who it is: its kind and its metadata. */
export function createKeep(wholeIf: WholeObjects): Keep {
  return (stored) => {
    const { object, appliedBy } = stored;
    if (isWhole(object, wholeIf)) return stored;
    const { apiVersion, kind, metadata } = object;
    return { object: { apiVersion, kind, metadata }, appliedBy };
  };
}

function isWhole(
  { metadata }: KubeObject,
  { labels, annotations, finalizer }: WholeObjects,
): boolean {
  if (metadata.finalizers?.includes(finalizer) === true) return true;
  return (
    (labels === undefined || selects(labels, metadata.labels)) &&
    (annotations === undefined || selects(annotations, metadata.annotations))
  );
}
