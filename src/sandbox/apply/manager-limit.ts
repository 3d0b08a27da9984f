import { type ManagedSet, type ManagerId, type Managers, managerId } from './managed-fields.ts';
import { compareText } from './path-element.ts';
import { union } from './path-set.ts';

/** Updaters that an object remembers by name. */
const maxUpdaters = 10;

/** Puts the oldest updaters of a version into one entry, `ancient-changes`, when there are too many. */
export function mergeOldUpdaters(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { applied }]) => !applied).sort(compareAge);
  let count = updaters.length;
  if (count <= maxUpdaters) return managers;
  const merged = new Map<ManagerId, ManagedSet>(managers);
  const firstOfVersion = new Map<string, readonly [ManagerId, ManagedSet]>();
  for (const [id, managed] of updaters) {
    if (count <= maxUpdaters) break;
    const { apiVersion } = managed;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, [id, managed]);
      continue;
    }
    const ancient = managerId({ manager: 'ancient-changes', operation: 'Update', apiVersion });
    if (!merged.has(ancient)) {
      merged.delete(first[0]);
      merged.set(ancient, first[1]);
    }
    const set = union(managed.set, merged.get(ancient)?.set ?? managed.set);
    merged.delete(id);
    merged.set(ancient, { ...managed, set });
    count--;
  }
  return merged;
}

type Entry = readonly [ManagerId, ManagedSet];

function compareAge([a, { time: aTime }]: Entry, [b, { time: bTime }]: Entry): number {
  return compareText(aTime ?? '', bTime ?? '') || compareText(a, b);
}
