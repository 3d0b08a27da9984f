import type { OperatorPlan, RenderedPatch, ReportPhase } from '#compile';
import { patchedAnnotationOf } from '#util/stored-names.ts';
import type { Problem } from '../failure.ts';
import { hasFinalizer } from '../ownership-claims.ts';
import type { Feature } from '../pass/feature.ts';
import type { Pass } from '../pass/pass.ts';
import { applyElements } from './apply-elements.ts';
import {
  findTarget,
  type PatchOfPass,
  prepareTarget,
  problemOfPatch,
  problemOfUnknown,
  sendPrepared,
  withKind,
} from './apply-target.ts';
import { hasClaims, PatchClaims } from './patch-claims.ts';
import type { RecordedStates } from './patch-target.ts';
import { isSentFor, markSent } from './sent-values.ts';
import { withdrawUnwanted } from './withdraw-patch.ts';

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
        for (const plan of patches)
          problems.push(...(await applyPatch(pass, { ...plan, records }, { phase, claims })));
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
  context: PatchContext,
): Promise<readonly Problem[]> {
  const problems = await applyAll(pass, written, context);
  // What an earlier definition owned is given up only once the manager of the definition has all of it.
  if (problems.length > 0 && written.owned === undefined) context.claims.keepAllOf(written);
  return problems;
}

async function applyAll(
  pass: Pass,
  written: PatchOfPass,
  { phase, claims }: PatchContext,
): Promise<readonly Problem[]> {
  const elements = await phase.patch(written.id);
  if (elements.kind === 'missing') return [];
  // Until its targets are known, none is withdrawn, also not what the patch owned in an earlier definition.
  if (elements.kind !== 'value') {
    claims.keepAllOf(written);
    return [problemOfUnknown(elements)];
  }
  if (written.isList) return applyElements(pass, written, { elements: elements.value, claims });
  const [rendered] = elements.value.map(({ patch }) => patch);
  if (rendered === undefined || rendered.kind === 'missing') return [];
  if (rendered.kind !== 'value') {
    claims.keepAllOf(written);
    return [problemOfUnknown(rendered)];
  }
  const { once } = rendered.value;
  if (once !== undefined && isSentFor(pass, written.id, once)) return [];
  const problem = await applyRendered(pass, written, { rendered: rendered.value, claims });
  if (problem !== undefined) return [problem];
  const unmarked = once === undefined ? undefined : await markSent(pass, written.id, once);
  return unmarked === undefined ? [] : [unmarked];
}

async function applyRendered(
  pass: Pass,
  written: PatchOfPass,
  { rendered, claims }: { readonly rendered: RenderedPatch; readonly claims: PatchClaims },
): Promise<Problem | undefined> {
  const plan = withKind(pass, written, rendered);
  const target = await findTarget(pass, plan, { rendered, claims });
  if ('reason' in target) {
    claims.keepAllOf(plan);
    return problemOfPatch(plan, target);
  }
  const prepared = await prepareTarget(pass, { plan, rendered, target });
  const problem = 'reason' in prepared ? prepared : await sendPrepared(pass, prepared, claims);
  return problem && problemOfPatch(plan, problem);
}
