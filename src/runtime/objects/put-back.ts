import { appliedHashOf } from '../../reconcile/index.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { DefinitionOrigin } from '../wanted-definition.ts';
import { placeOf } from './config-map-events.ts';
import type { StatusEvent } from './status-events.ts';
import { originText } from './told-definitions.ts';

/** Had the object shown this mirror until somebody edited it? `stored`: as it was made of that again. Pure. */
export function wasEdited(
  live: KubeObject | undefined,
  mirror: KubeObject,
  stored: KubeObject,
): boolean {
  if (live === undefined || appliedHashOf(live) !== appliedHashOf(mirror)) return false;
  return !deepEqual(live.spec, stored.spec);
}

/** Whoever edits a mirror has to know where the text stands. Pure. */
export function putBack(origin: DefinitionOrigin): StatusEvent {
  const note = `Its spec was edited, and is put back: this object only shows the text of ${originText(origin)}. ${whereToEdit(origin)}`;
  return { type: 'Warning', reason: 'PutBack', action: 'Load', note };
}

function whereToEdit(origin: DefinitionOrigin): string {
  const place = placeOf(origin);
  return place === undefined
    ? `Edit the file ${origin.ref}`
    : `Edit key ${place.key} of the ConfigMap: kubectl edit configmap ${place.name} -n ${place.namespace}`;
}
