import type { ExpressionInput, OperatorPlan, PatchPlan, ReportPhase } from '#compile';
import type { RefAt, StoredObject } from '#kube/roles.ts';
import { deletionPatchesAnnotationOf, skipOnDeleteAnnotation } from '#util/stored-names.ts';
import { observeExisting, seenOf } from '../child/observe-existing.ts';
import { type Problem, problemOfRequest, problemOfValue, problemOfWaiting } from '../failure.ts';
import { isNamespaceTerminating } from '../observe/terminating-namespace.ts';
import type { Feature, Removal } from '../pass/feature.ts';
import { clusterWrite, loggerOf, type Pass, requestError } from '../pass/pass.ts';
import { startReporting, startReportPhase } from '../report/map-status.ts';
import { annotateResource } from '../resource/write-metadata.ts';
import { statusOf } from '../status-fields.ts';
import { findTargets, type TargetElement } from './apply-elements.ts';
import { problemOfPatch, problemOfUnknown, statusProblem } from './apply-target.ts';
import { deleteTarget } from './delete-target.ts';
import type { PatchWithKind } from './patch-target.ts';
import { patchIntent, sendPatch } from './send-patch.ts';

/**
 * The patches with `at: Deletion`: sent once when the resource is being deleted, before its children are. An annotation has which deletion they
 * have been sent for: their expressions read children, which are deleted afterwards.
 */
export function createDeletionPatches({
  name,
  reporting,
}: Pick<OperatorPlan, 'name' | 'reporting'>): Feature {
  const patches = reporting?.patches.filter(({ atDeletion }) => atDeletion) ?? [];
  const annotation = deletionPatchesAnnotationOf(name);
  const isUsed = patches.length > 0;
  return {
    isUsed,
    annotation,
    ...(isUsed && {
      records({ resource }) {
        const isRecorded = resource.metadata.annotations?.[annotation] === 'true';
        return { annotations: { [annotation]: 'true' }, isRecorded, isEarly: true };
      },
    }),
    async beforeRemoval(pass, { runsOnDelete }: Removal) {
      const recorded = pass.resource.metadata.annotations?.[annotation];
      const deletion = deletionOf(pass);
      if (!runsOnDelete || recorded === deletion) return [];
      // Only the definition has the patches, and it is broken.
      if (pass.context.isFinalizeOnly) return recorded === undefined ? [] : [broken];
      if (!isUsed) return [];
      const problems = await sendAll(pass, patches, deletion);
      if (problems.length > 0) return problems;
      const problem = await annotateResource(pass, { [annotation]: deletion });
      return problem === undefined ? [] : [problem];
    },
  };
}

/** Identifies the deletion: a restored backup has the annotation of an earlier one. */
function deletionOf({ resource, uid, context }: Pass): string {
  const { deletionTimestamp } = resource.metadata;
  const since = deletionTimestamp ?? new Date(context.uninstall?.sinceMs ?? 0).toISOString();
  return `${uid}/${since}`;
}

async function sendAll(
  pass: Pass,
  patches: readonly PatchPlan[],
  deletion: string,
): Promise<readonly Problem[]> {
  const phase = await startDeletionPhase(pass);
  if ('reason' in phase) return [phase];
  const problems: Problem[] = [];
  for (const plan of patches)
    problems.push(...(await sendElements(pass, plan, { phase, deletion })));
  return problems.length > 0 ? withoutImpossible(pass, problems) : problems;
}

/**
 * In a terminating namespace no objects can be created, and what the patches read may have been deleted with it: waiting would not end.
 */
async function withoutImpossible(
  pass: Pass,
  problems: readonly Problem[],
): Promise<readonly Problem[]> {
  const possible = problems.filter(({ code }) => code !== 'namespace-terminating');
  const isAny = possible.some(({ reason }) => reason === 'RenderFailed');
  const isTerminating = isAny && (await isNamespaceTerminating(pass));
  if (typeof isTerminating === 'object') return [isTerminating];
  const left = isTerminating
    ? possible.filter(({ reason }) => reason !== 'RenderFailed')
    : possible;
  if (left.length === 0) loggerOf(pass).warn({}, 'Patches of a deletion were not sent');
  return left;
}

/** The phase over the existing children, or why they are not known. */
async function startDeletionPhase(pass: Pass): Promise<ReportPhase | Problem> {
  const { plan } = pass.context;
  await observeExisting(pass);
  const children = new Map<string, ExpressionInput>();
  for (const child of plan.children) {
    const seen = seenOf(pass, child);
    if (seen.state === 'waiting') return problemOfWaiting([seen.on]);
    children.set(child.id, seen);
  }
  const { phase, inputs, isComplete } = startReporting(pass);
  if (!isComplete || plan.reporting === undefined) return unknownReads(pass);
  const reporting = { phase, inputs: { ...inputs, children }, isComplete };
  return startReportPhase(pass, plan.reporting, { reporting, status: statusOf(pass.resource) });
}

/** What keeps the reads from being known. */
function unknownReads({ findings }: Pass): Problem {
  const results = [...findings.reads.values()];
  const failed = results.find(({ isKnown, problem }) => !isKnown && problem !== undefined);
  if (failed?.problem !== undefined) return failed.problem;
  const unknown = results.flatMap(({ isKnown, plan }) => (isKnown ? [] : [`reads.${plan.id}`]));
  return problemOfWaiting(unknown.length > 0 ? unknown : ['the lists of its children']);
}

interface DeletionTurn {
  readonly phase: ReportPhase;
  readonly deletion: string;
}

async function sendElements(
  pass: Pass,
  written: PatchPlan,
  { phase, deletion }: DeletionTurn,
): Promise<readonly Problem[]> {
  const elements = await phase.patch(written.id);
  if (elements.kind === 'missing' || written.gvk === undefined) return [];
  if (elements.kind !== 'value') return [problemOfPatch(written, problemOfUnknown(elements))];
  // The recorded versions of the target are deleted with the resource.
  const plan = { ...written, records: undefined };
  const { found, problems } = findTargets(pass, plan, { elements: elements.value });
  const all = [...problems];
  for (const element of found) {
    const problem = await send(pass, element, deletion);
    if (problem !== undefined)
      all.push(problemOfPatch(plan, problem, plan.isList ? element.index : undefined));
  }
  return all;
}

async function send(
  pass: Pass,
  { plan, target, rendered }: TargetElement,
  deletion: string,
): Promise<Problem | undefined> {
  // It is deleted with its fields.
  if (target.isSelf) return undefined;
  const { fields } = rendered;
  const wrongStatus = statusProblem(pass, plan, fields);
  if (wrongStatus !== undefined) return wrongStatus;
  const found = await find(pass, plan, target.ref);
  if ('problem' in found) return found.problem;
  const { live } = found;
  const intent = patchIntent(pass, { plan, ref: target.ref, fields });
  pass.findings.desiredObjects.set(intent.identity, plan.id);
  if (plan.deletes) return deleteTarget(pass, { plan, intent, live }, deletion);
  // What is gone needs no patch.
  if (live === undefined && !plan.create) return undefined;
  return sendPatch(pass, { plan, intent, isSelf: false }, live);
}

type Found = { readonly live: StoredObject | undefined } | { readonly problem: Problem };

/** Reads the target from the server: a watch is not worth it. */
async function find(pass: Pass, plan: PatchWithKind, ref: RefAt): Promise<Found> {
  const { cluster } = pass.context;
  try {
    const type = await cluster.findKind(ref.gvk, pass.signal);
    // A kind that is not served has no objects.
    if (type === undefined) return { live: undefined };
    return { live: await cluster.get(ref, clusterWrite(pass, ref), pass.signal) };
  } catch (thrown) {
    const { gvk, namespace } = ref;
    const { place } = plan;
    const error = requestError(thrown, pass);
    return { problem: problemOfRequest(error, { about: plan, gvk, namespace, place }) };
  }
}

const broken: Problem = {
  ...problemOfValue(
    `The definition is broken and has patches with "at: Deletion": fix the definition, or annotate the resource with ${skipOnDeleteAnnotation}: "true"`,
  ),
  reason: 'DefinitionBroken',
  code: 'definition-broken',
  kind: 'waiting',
};
