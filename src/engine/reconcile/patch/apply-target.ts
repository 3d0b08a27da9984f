import type { PatchPlan, Rendered, RenderedPatch } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import { type Problem, problemOfRender, problemOfValue, problemOfWaiting } from '../failure.ts';
import { identityOfRef, kindAt } from '../identity.ts';
import type { Intent } from '../intent/intent.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { deleteTarget } from './delete-target.ts';
import type { PatchClaims } from './patch-claims.ts';
import {
  observeTarget,
  type PatchTarget,
  type PatchWithKind,
  type RecordedStates,
  type TargetState,
  targetOf,
} from './patch-target.ts';
import {
  fieldsOfWhole,
  isWholePatch,
  type RestoreTarget,
  readOfTarget,
  restoreTarget,
} from './restore.ts';
import { sendOwnedPatch } from './send-owned-patch.ts';
import { type DesiredPatch, patchIntent, sendPatch } from './send-patch.ts';

/** A patch, and where the states are recorded that patches overwrite. */
export type PatchOfPass = PatchPlan & { readonly records: RecordedStates | undefined };

type Target = PatchTarget | RestoreTarget;

/** A patch of one target, as it is rendered. */
interface RenderedTarget {
  readonly plan: PatchWithKind;
  readonly rendered: RenderedPatch;
  readonly target: Target;
}

/** A patch of one target that can be sent. */
export interface PreparedPatch extends RenderedTarget {
  readonly intent: Intent;
  /** `stale`: nothing is sent, another pass follows. */
  readonly state: Exclude<TargetState, { readonly kind: 'unknown' }>;
}

/** The patch with the kind of its target. */
export function withKind(
  pass: Pass,
  written: PatchOfPass,
  { gvk }: Pick<RenderedPatch, 'gvk'>,
): PatchWithKind {
  const { gvk: ownKind } = pass.context.plan.definition.kind;
  return { ...written, gvk: kindAt(gvk ?? written.gvk ?? ownKind, undefined) };
}

/** The target, which is wanted from now on, or why there is none. */
export async function findTarget(
  pass: Pass,
  plan: PatchWithKind,
  { rendered, claims }: { readonly rendered: RenderedPatch; readonly claims: PatchClaims },
): Promise<Target | Problem> {
  const target = await (plan.isRestore ? restoreTarget : targetOf)(pass, plan, rendered);
  if (!('reason' in target) && plan.owned?.withdraws === true)
    claims.want(plan, identityOfRef(target.ref));
  return target;
}

/** Checks the fields and observes the target. Returns the error, if any. */
export async function prepareTarget(
  pass: Pass,
  { plan, rendered, target }: RenderedTarget,
): Promise<PreparedPatch | Problem> {
  if (target.isSelf && (plan.deletes || plan.setsStatus)) return problemOfValue(notItself);
  const fields = isWholePatch(plan) ? fieldsOfWhole(plan, rendered, target) : rendered.fields;
  if (isProblem(fields)) return fields;
  const wrongStatus = statusProblem(pass, plan, fields);
  if (wrongStatus !== undefined) return wrongStatus;
  const intent = patchIntent(pass, { plan, ref: target.ref, fields });
  pass.findings.desiredObjects.set(intent.identity, plan.id);
  const state = 'state' in target ? target.state : await observeTarget(pass, plan, target);
  if (state.kind === 'unknown') return state.problem;
  if (state.kind === 'absent' && !plan.create && !plan.deletes) {
    const what = objectText(plan.gvk.kind, target.ref.name, plan);
    return problemOfWaiting([`${what}, which does not exist`]);
  }
  return { plan, rendered, target, intent, state };
}

const notItself = 'target: Expected another object, found the resource itself';

/** Sends the patch if the target differs, or deletes the target. Returns the error, if any. */
export async function sendPrepared(
  pass: Pass,
  { plan, rendered, target, intent, state }: PreparedPatch,
  claims: PatchClaims,
): Promise<Problem | undefined> {
  if (state.kind === 'stale') {
    claims.keepAllOf(plan);
    return undefined;
  }
  const live = state.kind === 'present' ? state.live : undefined;
  if (plan.deletes) return deleteTarget(pass, { plan, intent, live }, rendered.once ?? '');
  const { isSelf } = target;
  const recordedBy = 'read' in target ? target.read : readOfTarget(pass, plan, { target, live });
  const desired = { plan, intent, isSelf, ...(recordedBy && !isSelf && { recordedBy }), claims };
  return plan.owned === undefined
    ? sendUnownedPatch(pass, desired, live)
    : sendOwnedPatch(pass, desired, live);
}

/** What an earlier definition owned belongs to the manager of the definition first: it is given up afterwards, and stays. */
async function sendUnownedPatch(
  pass: Pass,
  { claims, ...desired }: DesiredPatch & { readonly claims: PatchClaims },
  live: StoredObject | undefined,
): Promise<Problem | undefined> {
  const { plan, intent } = desired;
  const wasOwned = claims.digestOf(plan, identityOfRef(intent.ref)) !== undefined;
  return sendPatch(pass, { ...desired, takesOver: wasOwned }, live);
}

function isProblem(result: RenderedPatch['fields'] | Problem): result is Problem {
  return 'reason' in result && 'message' in result && 'code' in result;
}

/** Why a patch, or its list of targets, has no value. */
export function problemOfUnknown(
  rendered: Extract<Rendered<unknown>, { readonly kind: 'waiting' | 'failed' }>,
): Problem {
  return rendered.kind === 'waiting'
    ? problemOfWaiting(rendered.on)
    : problemOfRender(rendered.failure);
}

/** Adds the id of the patch to a message, and the index of an element. */
export function problemOfPatch({ id }: PatchPlan, problem: Problem, index?: number): Problem {
  const name = index === undefined ? id : `${id}[${index}]`;
  return { ...problem, message: `patches.${name}: ${problem.message}` };
}

/** Why the status cannot be set in this way: a subresource has an endpoint of its own. */
export function statusProblem(
  { context }: PassInput,
  { gvk, setsStatus }: PatchWithKind,
  fields: RenderedPatch['fields'],
): Problem | undefined {
  const hasStatus = context.cluster.resourceFor(gvk)?.hasStatus;
  if (!setsStatus && hasStatus === true && fields.status !== undefined)
    return problemOfValue(
      `status: Expected "status: true" in the patch, "${gvk.kind}" has a status subresource`,
    );
  if (setsStatus && hasStatus === false)
    return problemOfValue(
      `status: Expected no "status: true" in the patch, "${gvk.kind}" has no status subresource`,
    );
  return undefined;
}
