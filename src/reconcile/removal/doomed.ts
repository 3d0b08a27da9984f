import type { StoredObject } from '../../kube/roles.ts';
import type { DoomedObject } from '../deletion-guard.ts';
import { childIdOf, refOfStored } from '../identity.ts';
import { isTerminating } from '../owner.ts';
import type { Pass } from '../pass/pass.ts';
import { isOrphaned } from './leaving.ts';

/** Those of the objects that are not wanted which would be lost: not what stays without us, nor what is on its way out already. */
export function doomedOf(pass: Pass, unwanted: readonly StoredObject[]): readonly DoomedObject[] {
  return unwanted
    .filter(({ object }) => !isTerminating(object) && !isOrphaned(pass, object))
    .map(({ object }) => ({
      ref: refOfStored(object),
      uid: object.metadata.uid ?? '',
      childId: childIdOf(object),
    }));
}
