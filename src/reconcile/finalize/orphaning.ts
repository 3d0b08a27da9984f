import type { CacheEvent } from '../../kube/roles.ts';
import { keyOf } from '../../util/kube-object.ts';
import type { Problem } from '../failure.ts';
import { orphaningAnnotationOf } from '../names.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import type { ResourceState } from '../pass/resource-state.ts';
import { annotateResource } from '../resource/write-metadata.ts';

/** Set on objects that are deleted with `--cascade=orphan`, until the garbage collector has released the dependents: only briefly. */
const orphanFinalizer = 'orphan';

/** Remembers that the dependents of a resource are to be orphaned: the finalizer may be removed before a pass runs. */
export function detectOrphaning(
  states: ReadonlyMap<string, ResourceState>,
  { current }: CacheEvent,
): void {
  const metadata = current?.object.metadata;
  if (metadata?.deletionTimestamp === undefined) return;
  if (metadata.finalizers?.includes(orphanFinalizer) !== true) return;
  const state = states.get(keyOf(metadata.namespace, metadata.name));
  if (state !== undefined && state.uid === metadata.uid) state.isOrphaning = true;
}

/** Was the resource deleted with orphaned dependents? */
export function isOrphaning(pass: Pass): boolean {
  const { resource, state } = pass;
  state.isOrphaning ||= resource.metadata.finalizers?.includes(orphanFinalizer) === true;
  state.isOrphaning ||= isRecorded(pass);
  return state.isOrphaning;
}

/**
 * Records it on the resource before any object is released: another process may not see the finalizer.
 * @returns the error, if any: then no object may be removed.
 */
export async function recordOrphaning(pass: Pass): Promise<Problem | undefined> {
  if (!isOrphaning(pass) || isRecorded(pass)) return undefined;
  return annotateResource(pass, { [orphaningAnnotationOf(pass.context.plan.name)]: pass.uid });
}

/** By UID: an annotation from a restored backup belongs to a previous object. */
function isRecorded({ resource, context, uid }: PassInput): boolean {
  return resource.metadata.annotations?.[orphaningAnnotationOf(context.plan.name)] === uid;
}
