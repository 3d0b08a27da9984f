import type { ChildPlan } from '../../compile/index.ts';
import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { childIdOf, identityOf, refOfStored } from '../identity.ts';
import type { Intent } from '../intent/intent.ts';
import { isOthers } from '../owner.ts';
import { isChild, planOfChild } from '../ownership/is-child.ts';
import { type Given, type Pass, type PrunedObject, worldWrite } from '../pass/pass.ts';
import type { ResourceState, Stray } from '../pass/resource-state.ts';
import { type Confidence, unaccounted } from '../secrecy.ts';

/** An object of the resource has left its watch: gone, or without the label that leads to it. */
export function noteLoss(state: ResourceState | undefined, lost: StoredObject): void {
  const ref = refOfStored(lost.object);
  const stray = { ref, childId: childIdOf(lost.object), lost };
  state?.strays.set(identityOf(ref.gvk, ref.namespace, ref.name), stray);
}

/**
 * Runs the creation of an object; while its answer is not there, and for good when it never comes, the object may be there.
 * @throws whatever `create` throws.
 */
export async function creating<T>(
  { state }: Given,
  {
    plan,
    intent: { identity, ref },
  }: { readonly plan: Pick<ChildPlan, 'id'>; readonly intent: Intent },
  create: () => Promise<T>,
): Promise<T> {
  // What is known of one that lost its label stays known: it may be what is in the way.
  const known = state.strays.get(identity);
  state.strays.set(identity, { ...(known ?? { ref, childId: plan.id }), isUnanswered: true });
  try {
    const made = await create();
    state.strays.delete(identity);
    return made;
  } catch (error) {
    // An answer of the server that it refuses says that nothing was made.
    const isRefused = error instanceof KubeError && error.status >= 400 && error.status < 500;
    if (isRefused && known === undefined) state.strays.delete(identity);
    else if (isRefused && known !== undefined) state.strays.set(identity, known);
    throw error;
  }
}

/** Is it the object that was ours when it lost its label? */
export function isLostOne(pass: Pass, { object }: StoredObject): boolean {
  const { strays } = pass.state;
  if (strays.size === 0) return false;
  const { gvk, namespace, name } = refOfStored(object);
  const lost = strays.get(identityOf(gvk, namespace, name))?.lost;
  return (
    lost !== undefined &&
    lost.object.metadata.uid === object.metadata.uid &&
    !isOthers(object, pass.uid) &&
    isChild(pass, lost)
  );
}

/** What was found of the objects that no watch tells of. */
export interface FoundStrays {
  readonly objects: readonly StoredObject[];
  /** Those that could not be asked for: they may be there. */
  readonly unknown: readonly UnknownStray[];
}

/** An object that could not be asked for. */
export interface UnknownStray {
  readonly stray: Stray;
  readonly problem: Problem;
}

const none: FoundStrays = { objects: [], unknown: [] };

/** Asks for the objects that no watch tells of, as far as they would be removed: those that are there and ours. */
export async function findStrays(
  pass: Pass,
  isToGo: (stray: Stray) => boolean,
): Promise<FoundStrays> {
  const { state } = pass;
  if (state.strays.size === 0) return none;
  const objects: StoredObject[] = [];
  const unknown: UnknownStray[] = [];
  for (const [identity, stray] of [...state.strays]) {
    if (!isToGo(stray)) continue;
    const stored = await look(pass, stray);
    if (stored === undefined) state.strays.delete(identity);
    else if ('problem' in stored) unknown.push(stored);
    else {
      // Once it is on its way out nothing else tells of its end.
      pass.dependencies.conflict(stray.ref);
      objects.push(stored);
    }
  }
  return { objects, unknown };
}

/** What messages may say of it. */
export function aboutStray({ context }: Given, { ref: { gvk }, childId }: Stray): Confidence {
  return planOfChild(context.plan, childId, gvk) ?? unaccounted;
}

async function look(pass: Pass, stray: Stray): Promise<StoredObject | UnknownStray | undefined> {
  const { ref } = stray;
  const { cluster } = pass.context;
  let stored: StoredObject | undefined;
  try {
    stored = await cluster.get(ref, worldWrite(pass), pass.signal);
  } catch (error) {
    if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
    // What is not served has no objects.
    if (error.code === 'kind-missing') return undefined;
    return { stray, problem: problemOfRequest(error, { about: aboutStray(pass, stray) }) };
  }
  if (stored === undefined) return undefined;
  return isLostOne(pass, stored) || isChild(pass, stored) ? stored : undefined;
}

/** What the report says of an object that was to go and could not be asked for. */
export function failedStray({ stray, problem }: UnknownStray): PrunedObject {
  const { gvk, name, namespace } = stray.ref;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const object = { apiVersion: apiVersionOf(gvk), kind: gvk.kind, metadata };
  return { childId: stray.childId, object, state: 'failed', problem };
}
