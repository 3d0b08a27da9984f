import { canonicalJson } from '#util/canonical-json.ts';
import type { JsonObject } from '#util/json.ts';
import { objectField, withField } from '../json-fields.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { type ControllerClient, numberOf, partOf } from './controller-client.ts';
import { adoptAndRelease, controlledObjects, controllerReference } from './owned-objects.ts';

const controllerRevisions = 'apps/controllerrevisions';
export const revisionLabel = 'controller-revision-hash';

/** The revision of a template: its name, and the hash that pods have as a label. */
export interface Revision {
  readonly name: string;
  readonly hash: string;
}

/** Returns the revision of an owner's template and creates it if it is new. Its label holds the hash. */
export function ensureRevision(
  client: ControllerClient,
  owner: StoredObject,
  hashLabel: string,
): Revision {
  const template = objectField(partOf(owner, 'spec'), 'template') ?? {};
  const hash = templateHash(template);
  const name = `${owner.name}-${hash}`;
  // Of an owner that was deleted without its dependents, and created again.
  adoptAndRelease(client, controllerRevisions, owner);
  const revisions = controlledObjects(client, controllerRevisions, owner);
  const newest = Math.max(0, ...revisions.map(({ object }) => numberOf(object, 'revision', 0)));
  const found = revisions.find((revision) => revision.name === name);
  if (found === undefined) {
    const labels = objectField(objectField(template, 'metadata') ?? {}, 'labels');
    client.create(controllerRevisions, owner.namespace, {
      metadata: {
        name,
        labels: { ...labels, [hashLabel]: hash },
        ownerReferences: [controllerReference(owner)],
      },
      data: { spec: { template: { ...template, $patch: 'replace' } } },
      revision: newest + 1,
    });
  } else if (numberOf(found.object, 'revision', 0) < newest) {
    // The template is an old one again.
    client.update({ collection: controllerRevisions, key: found.key }, (object) => ({
      ...object,
      revision: newest + 1,
    }));
  }
  return { name, hash };
}

/** The template of an earlier revision; undefined when the revision is deleted. */
export function templateOfRevision(
  client: ControllerClient,
  owner: StoredObject,
  name: string,
): JsonObject | undefined {
  const revision = controlledObjects(client, controllerRevisions, owner).find(
    (each) => each.name === name,
  );
  const data = objectField(revision?.object ?? {}, 'data') ?? {};
  const found = objectField(objectField(data, 'spec') ?? {}, 'template');
  return found && withField(found, '$patch', undefined);
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A short hash of a template: FNV-1a in the alphabet of generated names. */
export function templateHash(template: JsonObject): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(canonicalJson(template)))
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  let text = '';
  for (let index = 0; index < 10; index++) {
    text += alphabet.charAt(hash % alphabet.length);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  }
  return text;
}
