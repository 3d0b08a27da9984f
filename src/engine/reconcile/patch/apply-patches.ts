import type { OperatorPlan, PatchPlan, RenderedPatch, ReportPhase } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import { patchedAnnotationOf } from '#util/stored-names.ts';
import { type Problem, problemOfRender, problemOfValue, problemOfWaiting } from '../failure.ts';
import { identityOfRef, kindAt } from '../identity.ts';
import { hasFinalizer } from '../ownership-claims.ts';
import type { Feature } from '../pass/feature.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { deleteTarget } from './delete-target.ts';
import { hasClaims, PatchClaims } from './patch-claims.ts';
import {
  observeTarget,
  type PatchWithKind,
  type RecordedStates,
  targetOf,
} from './patch-target.ts';
import { fieldsOfWhole, isWholePatch, readOfTarget, restoreTarget } from './restore.ts';
import { sendOwnedPatch } from './send-owned-patch.ts';
import { type DesiredPatch, patchIntent, sendPatch } from './send-patch.ts';
import { isSentFor, markSent } from './sent-values.ts';
import { withdrawUnwanted } from './withdraw-patch.ts';

/** A patch, and where the states are recorded that patches overwrite. */
type PatchOfPass = PatchPlan & { readonly records: RecordedStates | undefined };

/**
 * The patches of a definition: they are applied in sequence, once the status is mapped. Then those that no longer apply are withdrawn, also
 * patches that the definition had earlier.
 * @param records The recorded states of the objects that it reads. Undefined: it keeps none.
 */
export function createPatches(
  { name, reporting }: Pick<OperatorPlan, 'name' | 'reporting'>,
  records: RecordedStates | undefined,
): Feature {
  const patches = reporting?.patches.filter(({ atDeletion }) => !atDeletion) ?? [];
  return {
    isUsed: patches.length > 0,
    annotation: patchedAnnotationOf(name),
    async react(pass, phase) {
      const claims = new PatchClaims(pass);
      const problems: Problem[] = [];
      if (phase !== undefined) {
        for (const plan of patches) {
          const problem = await applyPatch(pass, { ...plan, records }, { phase, claims });
          if (problem !== undefined) problems.push(problem);
        }
      }
      problems.push(...(await withdrawAndSave(pass, claims)));
      const unset = await claims.ensureFinalizer();
      if (unset !== undefined) problems.push(unset);
      releaseFinalizer(pass, claims);
      // A restore that waits or failed must not be reported as done.
      return { problems, isPending: records !== undefined && problems.length > 0 };
    },
    keepsFinalizer: ({ resource }) => hasClaims(resource, name),
    beforeRemoval: (pass) => withdrawAndSave(pass, new PatchClaims(pass)),
  };
}

async function withdrawAndSave(pass: Pass, claims: PatchClaims): Promise<readonly Problem[]> {
  const problems = await withdrawUnwanted(pass, claims);
  const unsaved = await claims.save();
  return [...problems, ...[claims.excess, unsaved].flatMap((problem) => problem ?? [])];
}

/** The next pass removes the finalizer, if only withdrawn patches needed it. */
function releaseFinalizer(pass: Pass, claims: PatchClaims): void {
  const { plan } = pass.context;
  const wasNeeded = hasClaims(pass.resource, plan.name) && hasFinalizer(pass.resource, plan.name);
  if (wasNeeded && claims.isEmpty && !plan.needsFinalizer) pass.again('finalizer-unneeded');
}

/** What a patch of a pass is rendered with, and where it is recorded. */
interface PatchContext {
  readonly phase: ReportPhase;
  readonly claims: PatchClaims;
}

async function applyPatch(
  pass: Pass,
  written: PatchOfPass,
  { phase, claims }: PatchContext,
): Promise<Problem | undefined> {
  const rendered = await phase.patch(written.id);
  if (rendered.kind === 'missing') return undefined;
  // Until its target is known, none is withdrawn, also not what the patch owned in an earlier definition.
  if (rendered.kind !== 'value') claims.keepAllOf(written);
  if (rendered.kind === 'waiting') return problemOfWaiting(rendered.on);
  if (rendered.kind === 'failed') return problemOfRender(rendered.failure);
  const { once } = rendered.value;
  if (once !== undefined && isSentFor(pass, written, once)) return undefined;
  const problem = await applyRendered(pass, written, { rendered: rendered.value, claims });
  if (problem !== undefined || once === undefined) return problem;
  return markSent(pass, written, once);
}

async function applyRendered(
  pass: Pass,
  written: PatchOfPass,
  { rendered, claims }: { readonly rendered: RenderedPatch; readonly claims: PatchClaims },
): Promise<Problem | undefined> {
  const { gvk: ownKind } = pass.context.plan.definition.kind;
  const gvk = kindAt(rendered.gvk ?? written.gvk ?? ownKind, undefined);
  const plan = { ...written, gvk };
  const target = await (plan.isRestore ? restoreTarget : targetOf)(pass, plan, rendered);
  if ('reason' in target) {
    claims.keepAllOf(plan);
    return problemOfPatch(plan, target);
  }
  if (plan.owned?.withdraws === true) claims.want(plan, identityOfRef(target.ref));
  if (target.isSelf && (plan.deletes || plan.setsStatus))
    return problemOfPatch(plan, problemOfValue(notItself));
  const fields = isWholePatch(plan) ? fieldsOfWhole(plan, rendered, target) : rendered.fields;
  if (isProblem(fields)) return problemOfPatch(plan, fields);
  const wrongStatus = statusProblem(pass, plan, fields);
  if (wrongStatus !== undefined) return problemOfPatch(plan, wrongStatus);
  const intent = patchIntent(pass, { plan, ref: target.ref, fields });
  pass.findings.desiredObjects.set(intent.identity, plan.id);
  const state = 'state' in target ? target.state : await observeTarget(pass, plan, target);
  if (state.kind === 'stale') return undefined;
  if (state.kind === 'unknown') return problemOfPatch(plan, state.problem);
  if (plan.deletes) {
    const object = { plan, intent, live: state.kind === 'present' ? state.live : undefined };
    const problem = await deleteTarget(pass, object, rendered.once ?? '');
    return problem && problemOfPatch(plan, problem);
  }
  if (state.kind === 'absent' && !plan.create) {
    const what = objectText(plan.gvk.kind, target.ref.name, plan);
    return problemOfPatch(plan, problemOfWaiting([`${what}, which does not exist`]));
  }
  const live = state.kind === 'present' ? state.live : undefined;
  const { isSelf } = target;
  const recordedBy = 'read' in target ? target.read : readOfTarget(pass, plan, { target, live });
  const desired = { plan, intent, isSelf, ...(recordedBy && !isSelf && { recordedBy }) };
  const problem = await (plan.owned === undefined
    ? sendUnownedPatch(pass, { ...desired, claims }, live)
    : sendOwnedPatch(pass, { ...desired, claims }, live));
  return problem && problemOfPatch(plan, problem);
}

const notItself = 'target: Expected another object, found the resource itself';

/** What an earlier definition owned belongs to the manager of the definition first: it is given up afterwards, and stays. */
async function sendUnownedPatch(
  pass: Pass,
  { claims, ...desired }: DesiredPatch & { readonly claims: PatchClaims },
  live: StoredObject | undefined,
): Promise<Problem | undefined> {
  const { plan, intent } = desired;
  const wasOwned = claims.digestOf(plan, identityOfRef(intent.ref)) !== undefined;
  const problem = await sendPatch(pass, { ...desired, takesOver: wasOwned }, live);
  if (problem !== undefined && wasOwned) claims.keepAllOf(plan);
  return problem;
}

function isProblem(result: RenderedPatch['fields'] | Problem): result is Problem {
  return 'reason' in result && 'message' in result && 'code' in result;
}

/** Adds the id of the patch to a message. */
export function problemOfPatch({ id }: PatchPlan, problem: Problem): Problem {
  return { ...problem, message: `patches.${id}: ${problem.message}` };
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
