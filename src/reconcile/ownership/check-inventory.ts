import { parseIdentity } from '../pass/inventory.ts';
import { loggerOf, type Pass } from '../pass/pass.ts';
import { isGivenUp } from './places.ts';

/**
 * Finds recorded objects that no informer has: they may have lost their label while no process was running. They are looked up on the
 * server before they would be removed. Once per process: informers show later losses.
 */
export function checkInventory(pass: Pass): void {
  const {
    state,
    findings: { inventory, desiredObjects },
  } = pass;
  if (state.isInventoryChecked) return;
  state.isInventoryChecked = true;
  for (const [identity, childId] of childIdsByIdentity(pass)) {
    const place = parseIdentity(identity);
    const { cluster } = place;
    const informer = pass.context.watches.informerOf(place.kind, cluster);
    if (informer === undefined) {
      // A member that cannot be used now is checked later.
      if (cluster !== undefined && !isGivenUp(pass, cluster)) state.isInventoryChecked = false;
      continue;
    }
    // Repeated until the informer has synced.
    if (informer.state.kind !== 'synced') state.isInventoryChecked = false;
    else if (
      !desiredObjects.has(identity) &&
      informer.get(place.namespace, place.name) === undefined
    ) {
      const { namespace, name } = place;
      const { gvk } = informer.query;
      const ref = {
        gvk,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(cluster === undefined ? {} : { cluster }),
      };
      if (!state.untracked.has(identity)) state.untracked.set(identity, { ref, childId });
    }
  }
  if (inventory.ignoredCount > 0)
    loggerOf(pass).warn(
      { ignored: inventory.ignoredCount },
      'Ignoring inventory entries that are invalid, of unknown kinds, or beyond the limit',
    );
}

/** By identity, the child ids; empty where unknown. */
function childIdsByIdentity({ findings: { inventory } }: Pass): ReadonlyMap<string, string> {
  const unknown = Iterator.from(inventory.recorded.keys()).map(
    (identity) => [identity, ''] as const,
  );
  return new Map([...unknown, ...inventory.reported]);
}
