import type { PatchPlan, RenderedPatch } from '#compile';
import type { InformerState, KindAt, RefAt, StoredObject } from '#kube/roles.ts';
import { type Problem, problemOfWaiting, problemOfWatch } from '../failure.ts';
import type { RevisionHistory } from '../history/revision-history.ts';
import { identityOfRef, kindAt, refTo } from '../identity.ts';
import { namespaceOf } from '../ownership/namespace-of.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { isNamePublic, objectText } from '../secrecy.ts';

/** The target of a patch. */
export interface PatchTarget {
  readonly ref: RefAt;
  /** Is it the resource itself? */
  readonly isSelf: boolean;
}

/** The recorded states of the objects that the definition reads. */
export type RecordedStates = Pick<RevisionHistory, 'keeps' | 'isRecorded'> &
  // Without rights to write, nothing is recorded.
  Partial<Pick<RevisionHistory, 'ensureRecorded'>>;

/** A patch of a pass: the plan with its kind. */
export type PatchWithKind = PatchPlan & {
  /** Always in the cluster of the resource. */
  readonly gvk: KindAt;
  readonly records: RecordedStates | undefined;
};

/** The target of a patch, or why it may not be patched. */
export function targetOf(
  pass: Pass,
  plan: PatchWithKind,
  { name, namespace }: Pick<RenderedPatch, 'name' | 'namespace'>,
): PatchTarget | Problem {
  const own = selfRef(pass);
  if (name === undefined) return { ref: own, isSelf: true };
  const { gvk } = plan;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const manifest = { apiVersion: '', kind: gvk.kind, metadata };
  const found = namespaceOf(pass, plan, { object: manifest, cluster: undefined });
  if ('reason' in found) return found;
  const ref = refTo(gvk, found.namespace, name);
  if (identityOfRef(ref) === identityOfRef(own)) return { ref: own, isSelf: true };
  return { ref: isNamePublic(plan) ? ref : { ...ref, isPrivate: true }, isSelf: false };
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
  const live = pass.context.watches.resources.get(pass.key);
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

function selfRef({ context, resource, namespace }: PassInput): RefAt {
  const gvk = kindAt(context.plan.definition.kind.gvk, undefined);
  return refTo(gvk, namespace, resource.metadata.name);
}

function unknownProblem(
  plan: PatchWithKind,
  { name }: RefAt,
  state: Exclude<InformerState, { kind: 'synced' }>,
): Problem {
  const { gvk } = plan;
  if (state.kind === 'waiting') {
    return problemOfWaiting([`${objectText(gvk.kind, name, plan)} to be read`]);
  }
  return problemOfWatch(state.error, gvk);
}
