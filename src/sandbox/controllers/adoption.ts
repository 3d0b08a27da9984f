import { objectField } from '../json-fields.ts';
import { labelSelectorText, parseLabelQuery } from '../selector/index.ts';
import type { StoredObject } from '../store/index.ts';
import { type ControllerWorld, partOf } from './controller-world.ts';
import { controllerReference, controllerUid } from './owned-objects.ts';
import { isTerminating, uidOf } from './owner-index.ts';

/** Takes on what the owner's selector names and nobody controls; lets go of what it names no more. */
export function adopt(world: ControllerWorld, collection: string, owner: StoredObject): void {
  const selector = objectField(partOf(owner, 'spec'), 'selector');
  if (selector === undefined) return;
  const isSelected = parseLabelQuery(labelSelectorText(selector));
  const uid = uidOf(owner);
  for (const object of world.list(collection)) {
    if (object.namespace !== owner.namespace || isTerminating(object)) continue;
    const labels = objectField(partOf(object, 'metadata'), 'labels') ?? {};
    const controller = controllerUid(object);
    const isWanted = isSelected(labels as Readonly<Record<string, string>>);
    if (isWanted === (controller === uid) || (isWanted && controller !== undefined)) continue;
    world.change({ collection, key: object.key }, (before) => {
      const metadata = objectField(before, 'metadata') ?? {};
      const others = (metadata.ownerReferences ?? []) as readonly { readonly uid: string }[];
      const ownerReferences = isWanted
        ? [...others, controllerReference(owner)]
        : others.filter((reference) => reference.uid !== uid);
      return { ...before, metadata: { ...metadata, ownerReferences } };
    });
  }
}
