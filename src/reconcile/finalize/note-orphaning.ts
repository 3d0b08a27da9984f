import type { CacheEvent } from '../../kube/roles.ts';
import { keyOf } from '../../util/object-key.ts';
import type { ResourceState } from '../resource-state.ts';

/** Set on what was deleted with `--cascade=orphan`, until the collector has let go of what it owns: a moment. */
const orphanFinalizer = 'orphan';

/**
 * Remembers that what a resource owns is to stay: the collector may have taken the sign off before a pass comes to see it.
 */
export function noteOrphaning(
  states: ReadonlyMap<string, ResourceState>,
  { current }: CacheEvent,
): void {
  const metadata = current?.object.metadata;
  if (metadata?.deletionTimestamp === undefined) return;
  if (metadata.finalizers?.includes(orphanFinalizer) !== true) return;
  const state = states.get(keyOf(metadata.namespace, metadata.name));
  if (state !== undefined && state.uid === metadata.uid) state.isOrphaning = true;
}
