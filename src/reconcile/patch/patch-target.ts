import type { PatchPlan, RenderedPatch } from '../../compile/index.ts';
import type { InformerState, ObjectRef, StoredObject } from '../../kube/roles.ts';
import type { Gvk } from '../../util/gvk.ts';
import { type Problem, problemOfRequest, problemOfWaiting } from '../failure.ts';
import { identityOf } from '../identity.ts';
import { placementOf } from '../ownership/placement.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { isNameOpen, objectText, open } from '../secrecy.ts';

/** What is patched. */
export interface PatchTarget {
  readonly ref: ObjectRef;
  /** Is it the resource itself? */
  readonly isSelf: boolean;
}

/** A patch of a pass: the plan with its kind. */
export type PatchOf = PatchPlan & { readonly gvk: Gvk };

/** Which object a patch means, or why it may not be patched. */
export function targetOf(
  pass: Pass,
  plan: PatchOf,
  { name, namespace }: RenderedPatch,
): PatchTarget | Problem {
  const own = selfRef(pass);
  if (name === undefined) return { ref: own, isSelf: true };
  const { gvk } = plan;
  const asked = { name, ...(namespace === undefined ? {} : { namespace }) };
  const manifest = { apiVersion: '', kind: gvk.kind, metadata: asked };
  const placement = placementOf(pass, plan, manifest);
  if ('reason' in placement) return placement;
  const place = placement.namespace === undefined ? {} : { namespace: placement.namespace };
  const ref = { gvk, name, ...place, ...(!isNameOpen(plan) && { isPrivate: true as const }) };
  const isSelf =
    identityOf(gvk, ref.namespace, name) === identityOf(own.gvk, own.namespace, own.name);
  return { ref: isSelf ? own : ref, isSelf };
}

/** What is known of a target: the object, that there is none, or why that cannot be told. */
export type Sight =
  | { readonly kind: 'present'; readonly live: StoredObject }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly problem: Problem }
  /** The resource has changed under the pass: another one follows. */
  | { readonly kind: 'stale' };

/** Looks at the target; whatever changes of the fields that are set runs the resource again. */
export async function lookAt(
  pass: Pass,
  plan: PatchOf,
  { ref, isSelf }: PatchTarget,
): Promise<Sight> {
  if (isSelf) return lookAtSelf(pass);
  await pass.context.watches.prepareNamed([ref], pass.signal);
  const { state, stored } = pass.dependencies.named(ref, plan.paths);
  if (state.kind !== 'synced') return { kind: 'unknown', problem: notSeen(plan, ref, state) };
  const live = stored && pass.context.watches.confirmed(stored);
  return live === undefined ? { kind: 'absent' } : { kind: 'present', live };
}

/** The resource as the cache has it by now: nobody else has changed what the patch was made of. */
function lookAtSelf(pass: Pass): Sight {
  const { context, namespace = '', resource } = pass;
  const live = context.watches.resources.get(namespace, resource.metadata.name);
  if (live === undefined || isChanged(pass, live)) return { kind: 'stale' };
  return { kind: 'present', live };
}

/** Is it another one than the pass has seen, apart from what is written into its status? */
export function isChanged({ resource }: Given, { object }: StoredObject): boolean {
  const before = resource.metadata;
  const after = object.metadata;
  if (before.uid !== after.uid || before.generation !== after.generation) return true;
  // Without generations any field may have changed.
  return before.generation === undefined && before.resourceVersion !== after.resourceVersion;
}

function selfRef({ context, resource, namespace }: Given): ObjectRef {
  const { gvk } = context.plan.definition.kind;
  const { name } = resource.metadata;
  return { gvk, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Never permanent: the informer goes on trying and wakes the resource. */
function notSeen(
  plan: PatchOf,
  { name }: ObjectRef,
  state: Exclude<InformerState, { kind: 'synced' }>,
): Problem {
  const { gvk } = plan;
  if (state.kind === 'waiting') {
    return problemOfWaiting([`${objectText(gvk.kind, name, plan)} to be read`]);
  }
  const { reason, message, code } = problemOfRequest(state.error, { about: open, gvk });
  return { reason, message, code, kind: 'waiting' };
}
