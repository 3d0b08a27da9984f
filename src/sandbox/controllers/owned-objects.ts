import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import type { ControllerWorld } from './controller-world.ts';
import { uidOf } from './owner-index.ts';

/** The uid of the controller of an object. */
export function controllerUid({ object }: StoredObject): string | undefined {
  const owners = listField(objectField(object, 'metadata') ?? {}, 'ownerReferences');
  const controller = owners.find((owner) => isJsonObject(owner) && owner.controller === true);
  return isJsonObject(controller) ? stringField(controller, 'uid') : undefined;
}

/** What a controller has made for an owner, by name. */
export function controlledBy(
  world: ControllerWorld,
  collection: string,
  owner: StoredObject,
): readonly StoredObject[] {
  const uid = uidOf(owner);
  return world
    .list(collection)
    .filter((stored) => stored.namespace === owner.namespace && controllerUid(stored) === uid);
}

/** What an object that an owner controls says of it. */
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

/** Has it succeeded or failed? */
export function isFinished(pod: StoredObject): boolean {
  return ['Succeeded', 'Failed'].includes(phaseOf(pod));
}

export function isReady(pod: StoredObject): boolean {
  return readyCondition(pod) !== undefined;
}

/** The condition that says that a pod is ready; undefined while it is not. */
function readyCondition(pod: StoredObject): JsonObject | undefined {
  return listField(objectField(pod.object, 'status') ?? {}, 'conditions')
    .filter(isJsonObject)
    .find(({ type, status }) => type === 'Ready' && status === 'True');
}

/** When a pod has been ready for so long, in ms since the epoch; never while it is not ready. */
export function availableAtMs(pod: StoredObject, minReadyMs: number): number {
  const ready = readyCondition(pod);
  if (ready === undefined) return Number.POSITIVE_INFINITY;
  if (minReadyMs === 0) return 0;
  return Date.parse(stringField(ready, 'lastTransitionTime') ?? '') + minReadyMs;
}
