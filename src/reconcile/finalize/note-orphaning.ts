import type { CacheEvent } from '../../kube/roles.ts';
import { keyOf } from '../../util/object-key.ts';
import type { Problem } from '../failure.ts';
import { orphaningAnnotationOf } from '../names.ts';
import type { Given, Pass } from '../pass/pass.ts';
import type { ResourceState } from '../pass/resource-state.ts';
import { noteOnResource } from '../resource/write-metadata.ts';

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

/** Was it said, when the resource was deleted, that what it owns is to stay? */
export function isOrphaning(pass: Pass): boolean {
  const { resource, state } = pass;
  state.isOrphaning ||= resource.metadata.finalizers?.includes(orphanFinalizer) === true;
  state.isOrphaning ||= isNoted(pass);
  return state.isOrphaning;
}

/**
 * Notes it on the resource, too, before anything is released: the sign may be gone when another process goes on.
 * @returns what stands in the way: then nothing may go.
 */
export async function keepOrphaning(pass: Pass): Promise<Problem | undefined> {
  if (!isOrphaning(pass) || isNoted(pass)) return undefined;
  return noteOnResource(pass, { [orphaningAnnotationOf(pass.context.plan.name)]: pass.uid });
}

/** By its UID: what a restored backup says is of an earlier life. */
function isNoted({ resource, context, uid }: Given): boolean {
  return resource.metadata.annotations?.[orphaningAnnotationOf(context.plan.name)] === uid;
}
