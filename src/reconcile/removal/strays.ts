import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { childLabel } from '../names.ts';
import type { WantedElement } from '../pass/element-result.ts';
import { isOthers, isOurs } from '../pass/ownership.ts';
import { type Pass, worldWrite } from '../pass/pass.ts';
import type { ResourceState, Stray } from '../resource-state.ts';
import { identityOf } from '../wake/child-watch.ts';
import { refOfStored } from './ref-of-stored.ts';

/** An object of the resource has left its watch: gone, or without the label that leads to it. */
export function noteLoss(state: ResourceState | undefined, { object }: StoredObject): void {
  const ref = refOfStored(object);
  const { uid, labels } = object.metadata;
  const stray = { ref, childId: labels?.[childLabel] ?? '', ...(uid && { uid }) };
  state?.strays.set(identityOf(ref.gvk, ref.namespace, ref.name), stray);
}

/**
 * Runs the creation of an object; while its answer is not there, and for good when it never comes, the object may be there.
 * @throws whatever `create` throws.
 */
export async function creating<T>(
  { state }: Pass,
  { plan, intent: { identity, ref } }: Pick<WantedElement, 'plan' | 'intent'>,
  create: () => Promise<T>,
): Promise<T> {
  // What is known of one that lost its label stays known: it may be what is in the way.
  const lost = state.strays.get(identity);
  if (lost === undefined) state.strays.set(identity, { ref, childId: plan.id });
  try {
    const made = await create();
    state.strays.delete(identity);
    return made;
  } catch (error) {
    // An answer of the server that it refuses says that nothing was made.
    const isRefused = error instanceof KubeError && error.status >= 400 && error.status < 500;
    if (isRefused && lost === undefined) state.strays.delete(identity);
    throw error;
  }
}

/** Is it the object that was ours when it lost its label? */
export function isLostOne({ state, uid: ownerUid }: Pass, { object }: StoredObject): boolean {
  if (state.strays.size === 0) return false;
  const { gvk, namespace, name } = refOfStored(object);
  const uid = state.strays.get(identityOf(gvk, namespace, name))?.uid;
  return uid !== undefined && uid === object.metadata.uid && !isOthers(object, ownerUid);
}

/** Asks for the objects that no watch tells of, as far as they would be removed: those that are there and ours. */
export async function findStrays(
  pass: Pass,
  isToGo: (stray: Stray) => boolean,
): Promise<readonly StoredObject[]> {
  const { state } = pass;
  if (state.strays.size === 0) return [];
  const found: StoredObject[] = [];
  for (const [identity, stray] of [...state.strays]) {
    if (!isToGo(stray)) continue;
    const stored = await look(pass, stray);
    if (stored === undefined) state.strays.delete(identity);
    else {
      // Once it is on its way out nothing else tells of its end.
      pass.interests.conflict(stray.ref);
      found.push(stored);
    }
  }
  return found;
}

async function look(pass: Pass, { ref, uid }: Stray): Promise<StoredObject | undefined> {
  const stored = await pass.context.cluster.get(ref, worldWrite(pass), pass.signal);
  if (stored === undefined) return undefined;
  const owner = { definition: pass.context.plan.name, ownerUid: pass.uid };
  const isLost = stored.object.metadata.uid === uid && !isOthers(stored.object, pass.uid);
  return isLost || isOurs(stored, owner) ? stored : undefined;
}
