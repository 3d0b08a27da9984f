import type { JsonObject } from '../../util/json.ts';
import { objectField, withField } from '../json-fields.ts';
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

/** Takes note of an owner's template, if it is a new one, and returns its revision, which has its hash under a label. */
export function noteRevision(
  world: ControllerWorld,
  owner: StoredObject,
  hashLabel: string,
): Revision {
  const template = objectField(partOf(owner, 'spec'), 'template') ?? {};
  const hash = templateHash(template);
  const name = `${owner.name}-${hash}`;
  const known = controlledBy(world, controllerRevisions, owner);
  const newest = Math.max(0, ...known.map(({ object }) => numberOf(object, 'revision', 0)));
  const found = known.find((revision) => revision.name === name);
  if (found === undefined) {
    const labels = objectField(objectField(template, 'metadata') ?? {}, 'labels');
    world.create(controllerRevisions, owner.namespace, {
      metadata: {
        name,
        labels: { ...labels, [hashLabel]: hash },
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

/** The template of an earlier revision; undefined when nobody remembers it. */
export function templateOfRevision(
  world: ControllerWorld,
  owner: StoredObject,
  name: string,
): JsonObject | undefined {
  const revision = controlledBy(world, controllerRevisions, owner).find(
    (known) => known.name === name,
  );
  const data = objectField(revision?.object ?? {}, 'data') ?? {};
  const kept = objectField(objectField(data, 'spec') ?? {}, 'template');
  return kept && withField(kept, '$patch', undefined);
}
