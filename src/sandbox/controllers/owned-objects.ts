import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { labelSelectorText, parseLabelQuery } from '../selector/label-query.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { type ControllerClient, partOf } from './controller-client.ts';
import { isTerminating, uidOf } from './owner-index.ts';

/** The uid of the controller of an object. */
export function controllerUid({ object }: StoredObject): string | undefined {
  const owners = listField(objectField(object, 'metadata') ?? {}, 'ownerReferences');
  const controller = owners.find((owner) => isJsonObject(owner) && owner.controller === true);
  return isJsonObject(controller) ? stringField(controller, 'uid') : undefined;
}

/** The objects that an owner controls, by name. */
export function controlledObjects(
  client: ControllerClient,
  collection: string,
  owner: StoredObject,
): readonly StoredObject[] {
  const uid = uidOf(owner);
  return client
    .list(collection)
    .filter((stored) => stored.namespace === owner.namespace && controllerUid(stored) === uid);
}

/** The owner reference of an object that an owner controls. */
export function controllerReference(owner: StoredObject): JsonObject {
  return {
    apiVersion: owner.object.apiVersion,
    kind: owner.object.kind,
    name: owner.name,
    uid: uidOf(owner),
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** The manifest of a pod from a template. */
export function podOf(owner: StoredObject, template: JsonObject): JsonObject {
  const { labels, annotations } = objectField(template, 'metadata') ?? {};
  return {
    metadata: {
      generateName: `${owner.name}-`,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: objectField(template, 'spec') ?? {},
  };
}

export function phaseOf(pod: StoredObject): string {
  return stringField(objectField(pod.object, 'status') ?? {}, 'phase') ?? '';
}

/** Returns whether the pod has succeeded or failed. */
export function isFinished(pod: StoredObject): boolean {
  return ['Succeeded', 'Failed'].includes(phaseOf(pod));
}

export function isReady(pod: StoredObject): boolean {
  return readyCondition(pod) !== undefined;
}

/** The Ready condition of a pod; undefined while it is not ready. */
function readyCondition(pod: StoredObject): JsonObject | undefined {
  return listField(objectField(pod.object, 'status') ?? {}, 'conditions')
    .filter(isJsonObject)
    .find(({ type, status }) => type === 'Ready' && status === 'True');
}

/** The time at which a pod has been ready for minReadyMs, in ms since the epoch; Infinity while it is not ready. */
export function availableAtMs(pod: StoredObject, minReadyMs: number): number {
  const ready = readyCondition(pod);
  if (ready === undefined) return Number.POSITIVE_INFINITY;
  if (minReadyMs === 0) return 0;
  return Date.parse(stringField(ready, 'lastTransitionTime') ?? '') + minReadyMs;
}

/** Adopts objects that match the owner's selector and have no controller; releases those that no longer match. */
export function adoptAndRelease(
  client: ControllerClient,
  collection: string,
  owner: StoredObject,
): void {
  const selector = objectField(partOf(owner, 'spec'), 'selector');
  if (selector === undefined) return;
  const isSelected = parseLabelQuery(labelSelectorText(selector));
  const uid = uidOf(owner);
  for (const object of client.list(collection)) {
    if (object.namespace !== owner.namespace || isTerminating(object)) continue;
    const labels = objectField(partOf(object, 'metadata'), 'labels') ?? {};
    const controller = controllerUid(object);
    const isWanted = isSelected(labels as Readonly<Record<string, string>>);
    if (isWanted === (controller === uid) || (isWanted && controller !== undefined)) continue;
    client.update({ collection, key: object.key }, (before) => {
      const metadata = objectField(before, 'metadata') ?? {};
      const others = (metadata.ownerReferences ?? []) as readonly { readonly uid: string }[];
      const ownerReferences = isWanted
        ? [...others, controllerReference(owner)]
        : others.filter((reference) => reference.uid !== uid);
      return { ...before, metadata: { ...metadata, ownerReferences } };
    });
  }
}
