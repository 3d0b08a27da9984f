import { deepEqual } from '../../util/deep-equal.ts';
import type { DefinitionOrigin } from '../wanted-definition.ts';

/** Which records in the namespace are a process's own: whoever reads a text keeps its record, and nobody else touches it. */
export interface RecordOwner {
  /** Does the process read that place? */
  readonly covers: (origin: DefinitionOrigin) => boolean;
  /** Does it read directories? */
  readonly readsDirectories: boolean;
  /** Is the namespace the process's: its Pod's, that of `--namespace`, or where it contends for the lead? */
  readonly ownsNamespace: boolean;
}

/** Of directories that nobody else in the cluster sees. */
const ofMachine = 'file://';

/** Where a text stands, as its record says it. Pure. */
export function recordedPlace(
  origin: DefinitionOrigin,
  { ownsNamespace }: RecordOwner,
): DefinitionOrigin {
  if (origin.source !== 'directory' || ownsNamespace) return origin;
  return { ...origin, ref: `${ofMachine}${origin.ref}` };
}

/**
 * ConfigMaps and objects are the same for all who read them. A directory is not: that of a runtime may be mounted elsewhere tomorrow and
 * is the same one, that of some machine is known by its path. Pure.
 */
export function isOwnRecord(
  place: DefinitionOrigin | undefined,
  { covers, readsDirectories, ownsNamespace }: RecordOwner,
): boolean {
  if (place === undefined) return false;
  if (place.source !== 'directory') return covers(place);
  if (ownsNamespace) return readsDirectories && !isOfMachine(place);
  return isOfMachine(place) && covers({ ...place, ref: place.ref.slice(ofMachine.length) });
}

/** Does the record need no other word on where its text stands? Replicas need not have mounted a directory at one path. Pure. */
export function isSamePlace(
  recorded: DefinitionOrigin | undefined,
  place: DefinitionOrigin | undefined,
): boolean {
  const isMounted = (each: DefinitionOrigin | undefined) =>
    each?.source === 'directory' && !isOfMachine(each);
  return deepEqual(recorded, place) || (isMounted(recorded) && isMounted(place));
}

function isOfMachine({ ref }: DefinitionOrigin): boolean {
  return ref.startsWith(ofMachine);
}
