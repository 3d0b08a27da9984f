import type { PatchPlan, RenderedPatch } from '../../compile/index.ts';
import type { InformerState, ObjectRef, StoredObject } from '../../kube/roles.ts';
import type { Gvk } from '../../util/gvk.ts';
import { type Problem, problemOfRequest, problemOfWaiting } from '../failure.ts';
import { identityOf } from '../identity.ts';
import { placementOf } from '../ownership/placement.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { isNamePublic, objectText, publicContent } from '../secrecy.ts';

/** The target of a patch. */
export interface PatchTarget {
  readonly ref: ObjectRef;
  /** Is it the resource itself? */
  readonly isSelf: boolean;
}

/** A patch of a pass: the plan with its kind. */
export type PatchWithKind = PatchPlan & { readonly gvk: Gvk };

/** The target of a patch, or why it may not be patched. */
export function targetOf(
  pass: Pass,
  plan: PatchWithKind,
  { name, namespace }: RenderedPatch,
): PatchTarget | Problem {
  const own = selfRef(pass);
  if (name === undefined) return { ref: own, isSelf: true };
  const { gvk } = plan;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const manifest = { apiVersion: '', kind: gvk.kind, metadata };
  const placement = placementOf(pass, plan, manifest);
  if ('reason' in placement) return placement;
  const place = placement.namespace === undefined ? {} : { namespace: placement.namespace };
  const ref = { gvk, name, ...place, ...(!isNamePublic(plan) && { isPrivate: true as const }) };
  const isSelf =
    identityOf(gvk, ref.namespace, name) === identityOf(own.gvk, own.namespace, own.name);
  return { ref: isSelf ? own : ref, isSelf };
}

/** The state of a target: the object, its absence, or why it is unknown. */
export type TargetState =
  | { readonly kind: 'present'; readonly live: StoredObject }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly problem: Problem }
  /** The resource has changed since the pass began: another pass follows. */
  | { readonly kind: 'stale' };

/** Observes the target; changes of the patched fields enqueue the resource. */
export async function observeTarget(
  pass: Pass,
  plan: PatchWithKind,
  { ref, isSelf }: PatchTarget,
): Promise<TargetState> {
  if (isSelf) return observeSelf(pass);
  await pass.context.watches.prepareNamed([ref], pass.signal);
  const { state, stored } = pass.dependencies.named(ref, plan.paths);
  if (state.kind !== 'synced')
    return { kind: 'unknown', problem: unknownProblem(plan, ref, state) };
  const live = stored && pass.context.watches.confirmedByChildWatch(stored);
  return live === undefined ? { kind: 'absent' } : { kind: 'present', live };
}

/** The resource in the cache, unless it changed since the patch was rendered. */
function observeSelf(pass: Pass): TargetState {
  const { context, namespace = '', resource } = pass;
  const live = context.watches.resources.get(namespace, resource.metadata.name);
  if (live === undefined || isChanged(pass, live)) return { kind: 'stale' };
  return { kind: 'present', live };
}

/** Has the resource changed since the pass began, apart from its status? */
export function isChanged({ resource }: PassInput, { object }: StoredObject): boolean {
  const before = resource.metadata;
  const after = object.metadata;
  if (before.uid !== after.uid || before.generation !== after.generation) return true;
  // Without generations any field may have changed.
  return before.generation === undefined && before.resourceVersion !== after.resourceVersion;
}

function selfRef({ context, resource, namespace }: PassInput): ObjectRef {
  const { gvk } = context.plan.definition.kind;
  const { name } = resource.metadata;
  return { gvk, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Never permanent: the informer retries and enqueues the resource. */
function unknownProblem(
  plan: PatchWithKind,
  { name }: ObjectRef,
  state: Exclude<InformerState, { kind: 'synced' }>,
): Problem {
  const { gvk } = plan;
  if (state.kind === 'waiting') {
    return problemOfWaiting([`${objectText(gvk.kind, name, plan)} to be read`]);
  }
  const { reason, message, code } = problemOfRequest(state.error, { about: publicContent, gvk });
  return { reason, message, code, kind: 'waiting' };
}
