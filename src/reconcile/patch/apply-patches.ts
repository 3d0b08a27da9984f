import type { PatchPlan, ReportPhase } from '../../compile/index.ts';
import { type Problem, problemOfRender, problemOfWaiting } from '../failure.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { patchIntent } from './patch-intent.ts';
import { lookAt, type PatchOf, targetOf } from './patch-target.ts';
import { sendPatch } from './send-patch.ts';

/** Makes the patches of a definition so, one after the other; gives what stands in their way. */
export async function applyPatches(pass: Pass, phase: ReportPhase): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const plan of pass.context.plan.reporting?.patches ?? []) {
    const problem = await applyPatch(pass, plan, phase);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

async function applyPatch(
  pass: Pass,
  written: PatchPlan,
  phase: ReportPhase,
): Promise<Problem | undefined> {
  const rendered = await phase.patch(written.id);
  if (rendered.kind === 'missing') return undefined;
  if (rendered.kind === 'waiting') return problemOfWaiting(rendered.on);
  if (rendered.kind === 'failed') return problemOfRender(rendered.failure);
  const plan = { ...written, gvk: written.gvk ?? pass.context.plan.definition.kind.gvk };
  const { fields } = rendered.value;
  const target = targetOf(pass, plan, rendered.value);
  if ('reason' in target) return ofPatch(plan, target);
  if (fields.status !== undefined && keepsStatusApart(pass, plan)) {
    return ofPatch(plan, statusProblem(plan));
  }
  const intent = patchIntent(pass, { plan, ref: target.ref, fields });
  pass.found.claims.set(intent.identity, plan.id);
  const sight = await lookAt(pass, plan, target);
  switch (sight.kind) {
    case 'stale':
      return undefined;
    case 'unknown':
      return ofPatch(plan, sight.problem);
    case 'absent':
      if (!plan.create) {
        const { name } = target.ref;
        return ofPatch(
          plan,
          problemOfWaiting([`${objectText(plan.gvk.kind, name, plan)}, which does not exist`]),
        );
      }
      break;
    case 'present':
      break;
  }
  const live = sight.kind === 'present' ? sight.live : undefined;
  const problem = await sendPatch(pass, { plan, intent, isSelf: target.isSelf }, live);
  return problem && ofPatch(plan, problem);
}

/** What people read says which patch it is about. */
function ofPatch({ id }: PatchPlan, problem: Problem): Problem {
  return { ...problem, message: `patches.${id}: ${problem.message}` };
}

function keepsStatusApart({ context }: Given, { gvk }: PatchOf): boolean {
  return context.cluster.resourceFor(gvk)?.hasStatus ?? false;
}

function statusProblem({ gvk }: PatchOf): Problem {
  return {
    reason: 'RenderFailed',
    message: `status: Expected no status, which a ${gvk.kind} keeps apart from what can be patched`,
    code: 'invalid-manifest',
    kind: 'permanent',
  };
}
