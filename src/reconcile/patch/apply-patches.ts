import type { PatchPlan, RenderedPatch, ReportPhase } from '../../compile/index.ts';
import { parseJson } from '../../util/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { onceAnnotationOf } from '../../util/stored-names.ts';
import { type Problem, problemOfRender, problemOfValue, problemOfWaiting } from '../failure.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { annotateResource } from '../resource/write-metadata.ts';
import { objectText } from '../secrecy.ts';
import { observeTarget, type PatchWithKind, targetOf } from './patch-target.ts';
import { fieldsOfWhole, isWholePatch, readOfTarget, restoreTarget } from './restore.ts';
import { patchIntent, sendPatch } from './send-patch.ts';

/** Applies the patches of a definition in sequence; returns their problems. */
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
  const { once } = rendered.value;
  if (once !== undefined && isSentFor(pass, written, once)) return undefined;
  const problem = await applyRendered(pass, written, rendered.value);
  if (problem !== undefined || once === undefined) return problem;
  return markSent(pass, written, once);
}

async function applyRendered(
  pass: Pass,
  written: PatchPlan,
  rendered: RenderedPatch,
): Promise<Problem | undefined> {
  const gvk = rendered.gvk ?? written.gvk ?? pass.context.plan.definition.kind.gvk;
  const plan = { ...written, gvk };
  const target = await (plan.isRestore ? restoreTarget : targetOf)(pass, plan, rendered);
  if ('reason' in target) return problemOfPatch(plan, target);
  const fields = isWholePatch(plan) ? fieldsOfWhole(plan, rendered, target) : rendered.fields;
  if (isProblem(fields)) return problemOfPatch(plan, fields);
  if (fields.status !== undefined && hasStatusSubresource(pass, plan)) {
    return problemOfPatch(plan, statusProblem(plan));
  }
  const intent = patchIntent(pass, { plan, ref: target.ref, fields });
  pass.findings.desiredObjects.set(intent.identity, plan.id);
  const state = 'state' in target ? target.state : await observeTarget(pass, plan, target);
  if (state.kind === 'stale') return undefined;
  if (state.kind === 'unknown') return problemOfPatch(plan, state.problem);
  if (state.kind === 'absent' && !plan.create) {
    const what = objectText(plan.gvk.kind, target.ref.name, plan);
    return problemOfPatch(plan, problemOfWaiting([`${what}, which does not exist`]));
  }
  const live = state.kind === 'present' ? state.live : undefined;
  const { isSelf } = target;
  const recordedBy = 'read' in target ? target.read : readOfTarget(pass, target, live);
  const desired = { plan, intent, isSelf, ...(recordedBy && !isSelf && { recordedBy }) };
  const problem = await sendPatch(pass, desired, live);
  return problem && problemOfPatch(plan, problem);
}

function isProblem(result: RenderedPatch['fields'] | Problem): result is Problem {
  return 'reason' in result && 'message' in result && 'code' in result;
}

/** Adds the id of the patch to a message. */
function problemOfPatch({ id }: PatchPlan, problem: Problem): Problem {
  return { ...problem, message: `patches.${id}: ${problem.message}` };
}

function hasStatusSubresource({ context }: PassInput, { gvk }: PatchWithKind): boolean {
  return context.cluster.resourceFor(gvk)?.hasStatus ?? false;
}

function statusProblem({ gvk }: PatchWithKind): Problem {
  return problemOfValue(
    `status: Expected none, "${gvk.kind}" has a status subresource, which patches cannot write`,
  );
}

/** Whether the patch has been sent for this value of `once`. */
function isSentFor(pass: Pass, { id }: PatchPlan, value: string): boolean {
  return sentValues(pass)[id] === value;
}

/** Stores on the resource that the patch has been sent for this value. Returns the error, if any. */
function markSent(pass: Pass, { id }: PatchPlan, value: string): Promise<Problem | undefined> {
  const sent = JSON.stringify({ ...sentValues(pass), [id]: value });
  return annotateResource(pass, { [onceAnnotationOf(pass.context.plan.name)]: sent });
}

/** Digests of values, by patch. */
function sentValues({ context, resource, effects }: Pass): JsonObject {
  const { annotations } = (effects.updatedResource ?? resource).metadata;
  try {
    const sent: unknown = parseJson(annotations?.[onceAnnotationOf(context.plan.name)] ?? '{}');
    return isJsonObject(sent) ? (sent as JsonObject) : {};
  } catch {
    // Edited by another manager: no value counts as sent.
    return {};
  }
}
