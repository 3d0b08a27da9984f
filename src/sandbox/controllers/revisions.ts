import type { JsonObject } from '../../util/json.ts';
import type { StoredObject } from '../store/index.ts';
import { type ControllerWorld, numberOf, partOf } from './controller-world.ts';
import { controlledBy, controllerReference } from './owned-objects.ts';
import { templateHash } from './template-hash.ts';

export const controllerRevisions = 'apps/controllerrevisions';
export const revisionLabel = 'controller-revision-hash';

/** The revision of a template: its name, and the hash that pods carry. */
export interface Revision {
  readonly name: string;
  readonly hash: string;
}

/** Takes note of an owner's template, if it is a new one, and returns its revision. */
export function noteRevision(
  world: ControllerWorld,
  owner: StoredObject,
  template: JsonObject,
): Revision {
  const hash = templateHash(template);
  const name = `${owner.name}-${hash}`;
  const known = controlledBy(world, controllerRevisions, owner);
  const newest = Math.max(0, ...known.map(({ object }) => numberOf(object, 'revision', 0)));
  const found = known.find((revision) => revision.name === name);
  if (found === undefined) {
    const { labels } = partOf(owner, 'metadata');
    world.create(controllerRevisions, owner.namespace, {
      metadata: {
        name,
        labels: { ...(labels as JsonObject | undefined), [revisionLabel]: hash },
        ownerReferences: [controllerReference(owner)],
      },
      data: { spec: { template: { ...template, $patch: 'replace' } } },
      revision: newest + 1,
    });
  } else if (numberOf(found.object, 'revision', 0) < newest) {
    // An old template has come back.
    world.change({ collection: controllerRevisions, key: found.key }, (object) => ({
      ...object,
      revision: newest + 1,
    }));
  }
  return { name, hash };
}
