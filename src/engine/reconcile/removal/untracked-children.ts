import type { ChildPlan } from '#compile';
import { KubeError, type StoredObject } from '#kube/roles.ts';
import { apiVersionOf } from '#util/gvk.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { childIdOf, identityOfObject, identityOfRef, refOfStored } from '../identity.ts';
import type { Intent } from '../intent/intent.ts';
import { isChild, planOfChild } from '../ownership/is-child.ts';
import { isControlledByAnother } from '../ownership-claims.ts';
import { isGivenUp, unavailable } from '../pass/other-clusters.ts';
import {
  clusterWrite,
  type Pass,
  type PassInput,
  type PrunedObject,
  requestError,
} from '../pass/pass.ts';
import type { ResourceState, UntrackedChild } from '../pass/resource-state.ts';
import { type Disclosure, unknownOrigin } from '../secrecy.ts';

/** Tracks an object of the resource that left its watch: it is deleted, or lost the label that the informer selects by. */
export function trackLoss(state: ResourceState | undefined, lost: StoredObject): void {
  const ref = refOfStored(lost);
  const child = { ref, childId: childIdOf(lost.object), lost };
  state?.untracked.set(identityOfRef(ref), child);
}

/**
 * Runs the creation of an object. The object may exist as long as there is no response.
 * @throws the errors of `create`
 */
export async function trackCreation<T>(
  { state }: PassInput,
  {
    plan,
    intent: { identity, ref },
  }: { readonly plan: Pick<ChildPlan, 'id'>; readonly intent: Intent },
  create: () => Promise<T>,
): Promise<T> {
  // An object that lost its label stays tracked: it may be the conflicting object.
  const known = state.untracked.get(identity);
  state.untracked.set(identity, { ...(known ?? { ref, childId: plan.id }), isUnanswered: true });
  try {
    const created = await create();
    state.untracked.delete(identity);
    return created;
  } catch (error) {
    // A rejection by the server proves that nothing was created.
    const isRejected = error instanceof KubeError && error.status >= 400 && error.status < 500;
    if (isRejected && known === undefined) state.untracked.delete(identity);
    else if (isRejected && known !== undefined) state.untracked.set(identity, known);
    throw error;
  }
}

/** Is it a child of this very resource, also one that lost its label? */
export function isOwn(pass: Pass, live: StoredObject): boolean {
  return isChild(pass, live) || isUntrackedChild(pass, live);
}

/** Is it the tracked child that lost its label? */
function isUntrackedChild(pass: Pass, stored: StoredObject): boolean {
  const { object } = stored;
  const { untracked } = pass.state;
  if (untracked.size === 0) return false;
  const lost = untracked.get(identityOfObject(stored))?.lost;
  return (
    lost !== undefined &&
    lost.object.metadata.uid === object.metadata.uid &&
    !isControlledByAnother(object, pass.uid) &&
    isChild(pass, lost)
  );
}

/** The untracked children that were looked up. */
interface FoundUntracked {
  readonly objects: readonly StoredObject[];
  /** Those whose request failed: they may exist. */
  readonly unknown: readonly UnknownChild[];
}

/** An untracked child whose request failed. */
interface UnknownChild {
  readonly child: UntrackedChild;
  readonly problem: Problem;
}

const none: FoundUntracked = { objects: [], unknown: [] };

/** Looks up the untracked children that would be removed, and returns those that exist and belong to the resource. */
export async function findUntracked(
  pass: Pass,
  isToGo: (child: UntrackedChild) => boolean,
): Promise<FoundUntracked> {
  const { state } = pass;
  if (state.untracked.size === 0) return none;
  const objects: StoredObject[] = [];
  const unknown: UnknownChild[] = [];
  for (const [identity, child] of [...state.untracked]) {
    if (!isToGo(child)) continue;
    const stored = await fetchUntracked(pass, child);
    if (stored === undefined) state.untracked.delete(identity);
    else if ('problem' in stored) unknown.push(stored);
    else {
      // No other watch shows the end of its deletion.
      pass.dependencies.conflict(child.ref);
      objects.push(stored);
    }
  }
  return { objects, unknown };
}

/** What messages may disclose of it. */
export function disclosureOfUntracked(
  { context }: PassInput,
  { ref: { gvk }, childId }: UntrackedChild,
): Disclosure {
  return planOfChild(context.plan, childId, gvk) ?? unknownOrigin;
}

async function fetchUntracked(
  pass: Pass,
  child: UntrackedChild,
): Promise<StoredObject | UnknownChild | undefined> {
  const { ref } = child;
  const { cluster } = pass.context;
  if (isGivenUp(pass, ref.gvk.cluster)) return undefined;
  // Nothing is removed in a cluster that cannot be reached.
  const unusable = unavailable(pass, ref.gvk);
  if (unusable !== undefined) return { child, problem: unusable };
  let stored: StoredObject | undefined;
  try {
    stored = await cluster.get(ref, clusterWrite(pass), pass.signal);
  } catch (thrown) {
    const error = requestError(thrown, pass);
    // A kind that is not served has no objects.
    if (error.code === 'kind-missing') return undefined;
    return {
      child,
      problem: problemOfRequest(error, { about: disclosureOfUntracked(pass, child) }),
    };
  }
  if (stored === undefined) return undefined;
  return isOwn(pass, stored) ? stored : undefined;
}

/** The result for an untracked child whose request failed. */
export function failedUntracked({ child, problem }: UnknownChild): PrunedObject {
  const { gvk, name, namespace } = child.ref;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const object = { apiVersion: apiVersionOf(gvk), kind: gvk.kind, metadata };
  return { childId: child.childId, object, cluster: gvk.cluster, state: 'failed', problem };
}
