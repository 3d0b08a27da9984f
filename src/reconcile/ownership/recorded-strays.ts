import { placeOf } from '../pass/inventory.ts';
import { loggerOf, type Pass } from '../pass/pass.ts';

/**
 * What is on record of a resource and no watch shows may have lost the label that leads to it while nobody looked: it is to be asked
 * for where it would be removed. Once in the life of a process: later losses are seen.
 */
export function noteRecorded(pass: Pass): void {
  const {
    state,
    found: { inventory, claims },
  } = pass;
  if (state.isRecordRead) return;
  state.isRecordRead = true;
  for (const [identity, childId] of placesOf(pass)) {
    const place = placeOf(identity);
    const informer = pass.context.watches.informerOf(place.kind);
    if (informer === undefined) continue;
    // Once it can tell.
    if (informer.state.kind !== 'synced') state.isRecordRead = false;
    else if (!claims.has(identity) && informer.get(place.namespace, place.name) === undefined) {
      const { namespace, name } = place;
      const { gvk } = informer.query;
      const ref = { gvk, name, ...(namespace === undefined ? {} : { namespace }) };
      if (!state.strays.has(identity)) state.strays.set(identity, { ref, childId });
    }
  }
  if (inventory.ignored > 0)
    loggerOf(pass).warn(
      { ignored: inventory.ignored },
      'Entries of the inventory are ignored: unreadable, of kinds that the definition never had, or too many',
    );
}

/** By identity, the child that each was of; empty where nobody knows. */
function placesOf({ found: { inventory } }: Pass): ReadonlyMap<string, string> {
  const unknown = Iterator.from(inventory.recorded.keys()).map(
    (identity) => [identity, ''] as const,
  );
  return new Map([...unknown, ...inventory.reported]);
}
