import type { Outcome } from '#controller';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { pausedAnnotation } from '#util/stored-names.ts';
import { finalize, finalizeUnmatched, uninstallResource } from '../finalize/finalize.ts';
import { forgetDue } from '../ledger/due.ts';
import { observeReads } from '../observe/observe-reads.ts';
import { hasFinalizer, isPaused, isTerminating } from '../ownership-claims.ts';
import type { OperatorContext, PassTurn } from '../pass/context.ts';
import { beginPass, loggerOf, type Pass, type PassInput, type PassRequest } from '../pass/pass.ts';
import { standardConditions } from '../report/conditions.ts';
import { writeStatus } from '../resource/write-status.ts';
import { isForeign, ownStatusOf, standardConditionTypes } from '../status-fields.ts';
import { dropResource } from './forget-resource.ts';
import { runUnmatched } from './run-unmatched.ts';

/** What is done with a resource instead of applying its children. Undefined: the next route decides. */
export type Route = (
  context: OperatorContext,
  request: PassRequest,
) => Promise<Outcome> | undefined;

interface AbsentKey {
  readonly key: string;
  readonly turn: PassTurn;
  readonly isServed: boolean;
}

/** Reconciles a key without a resource: it is deleted, not served, or no longer matches. */
export async function runAbsent(
  context: OperatorContext,
  { key, turn, isServed }: AbsentKey,
): Promise<Outcome> {
  const ended = isServed
    ? ((await finalizeUnmatched(context, key, turn)) ?? (await runUnmatched(context, key, turn)))
    : undefined;
  return ended ?? dropResource(context, key);
}

export const paused: Route = (context, request) =>
  isPaused(request.resource) ? reportPaused(beginPass(context, request)) : undefined;

/** No children are created for a resource that is being deleted. */
export const terminating: Route = (context, request) =>
  isTerminating(request.resource) ? finishResource(context, request) : undefined;

async function finishResource(context: OperatorContext, request: PassRequest): Promise<Outcome> {
  const { key, resource } = request;
  await Promise.all(context.features.all.map((feature) => feature.forget?.(key)));
  // Without our finalizer, the garbage collector deletes its children.
  return hasFinalizer(resource, context.plan.name) ? finalize(context, request) : { kind: 'done' };
}

export const uninstalled: Route = (context, request) =>
  context.uninstall && uninstallResource(context, context.uninstall, request);

export const finalizeOnly: Route = ({ isFinalizeOnly }) =>
  isFinalizeOnly ? Promise.resolve({ kind: 'done' }) : undefined;

/** Reports the pause in the status of the definition's own kinds, and keeps the rest of it. Removing the annotation enqueues the resource. */
async function reportPaused(pass: Pass): Promise<Outcome> {
  const { context, state } = pass;
  forgetDue(state.ledger);
  state.isReady = false;
  if (pass.features.some(({ seen }) => seen !== undefined)) await observeReads(pass);
  if (isForeign(context.plan)) return { kind: 'done' };
  const status = await writeStatus(pass, pausedStatus(pass));
  if (status.kind === 'failed') throw status.error;
  if (status.kind === 'written') loggerOf(pass).info({}, 'Paused');
  return { kind: 'done' };
}

const pausedSummary = {
  reason: 'Paused',
  message: `Paused by annotation "${pausedAnnotation}"; remove it to resume`,
  isStalled: false,
  isReconciling: false,
} as const;

function pausedStatus(pass: PassInput): Readonly<Record<string, unknown>> {
  const { context, resource } = pass;
  const { conditions, ...ours } = ownStatusOf(resource, context.plan);
  const standard = standardConditions(pass, pausedSummary).map((condition) => ({
    ...condition,
    // An edit during the pause is not observed.
    observedGeneration: pausedGeneration(resource) ?? condition.observedGeneration,
  }));
  const others = conditions.filter(({ type }) => !standardConditionTypes.has(type));
  return { ...ours, conditions: [...standard, ...others] };
}

/** The generation at the start of the pause; undefined: the pause starts now. */
function pausedGeneration(resource: KubeObject): number | undefined {
  const ready = conditionsOf(resource).find(({ type }) => type === 'Ready');
  const { reason, observedGeneration } = ready ?? {};
  return reason === 'Paused' && typeof observedGeneration === 'number'
    ? observedGeneration
    : undefined;
}
