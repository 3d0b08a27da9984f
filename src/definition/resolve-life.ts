import { isJsonObject, type JsonObject } from '../util/json.ts';
import type { ChildLife, RollingUpdate } from './operator-definition.ts';
import { mapAt } from './tree.ts';

/** How the objects of a child come, change and are taken over, with all defaults. */
export function resolveLife(child: JsonObject): ChildLife {
  const { type, rollingUpdate } = mapAt(child, '/updateStrategy');
  return {
    adopt: child.adopt === 'IfUnowned' ? 'IfUnowned' : 'Never',
    adoptedPolicy: child.deletionPolicy === 'Delete' ? 'Delete' : 'Orphan',
    updateStrategy: {
      type: type === 'Recreate' || type === 'OnDelete' ? type : 'Apply',
      ...(isJsonObject(rollingUpdate) && { rollingUpdate: resolveRolling(rollingUpdate) }),
    },
  };
}

function resolveRolling({ maxUnavailable, partition, order }: JsonObject): RollingUpdate {
  const isGiven = typeof maxUnavailable === 'number' || typeof maxUnavailable === 'string';
  return {
    maxUnavailable: isGiven ? maxUnavailable : 1,
    partition: typeof partition === 'number' ? partition : 0,
    order: order === 'Descending' ? 'Descending' : 'Ascending',
  };
}
