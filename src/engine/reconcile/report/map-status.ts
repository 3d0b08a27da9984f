import type { ExpressionInput, OperatorPlan, Phase, PhaseInput, ReportPhase } from '#compile';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { inputForReport as childForReport } from '../child/element-result.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import { observedForReport } from '../observe/observe-children.ts';
import { readAgain } from '../observe/observe-reads.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { conditionTypesOf, statusKeysOf, statusOf } from '../status-fields.ts';
import { isKnown } from '../watch/informer-waits.ts';

/** The author's status fields. */
export interface MappedStatus {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
}

/** Evaluates the status mapping. A field that fails keeps its last value. All of them do while an informer that they may read is not usable. */
export async function mapStatus(
  pass: Pass,
  { phase, isComplete }: ReportingContext,
): Promise<MappedStatus> {
  const keys = Object.keys(pass.context.plan.definition.status);
  if (keys.length === 0) return { fields: {}, problems: [] };
  const last = lastMapped(pass);
  if (!isComplete) return { fields: last, problems: [] };
  const { fields, failures, kept: unknown = [] } = await phase.status();
  const failed = new Set([...unknown, ...failures.map(({ field }) => statusKeyOf(field))]);
  const kept = pick(
    last,
    keys.filter((key) => failed.has(key)),
  );
  return { fields: { ...fields, ...kept }, problems: failures.map(problemOfRender) };
}

/** The author's status fields at the start of the pass. */
export function lastMapped({ context, resource }: PassInput): Readonly<Record<string, unknown>> {
  const keys = Object.keys(context.plan.definition.status);
  return pick(statusOf(resource), keys);
}

/** `nodes` of `status.nodes[0].name`. */
function statusKeyOf(field: string): string {
  return field.replace(/^status\./, '').split(/[.[]/, 1)[0] ?? field;
}

function pick(
  source: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    keys.flatMap((key) => (source[key] === undefined ? [] : [[key, source[key]]])),
  );
}

type Status = Readonly<Record<string, unknown>>;

/**
 * The resource with the status that is about to be written; fields of other managers are kept.
 * @param status The fields known so far, among them all fields of the author.
 */
function withNewStatus({ context, resource }: PassInput, status: Status): KubeObject {
  const { plan } = context;
  const written = new Set(statusKeysOf(plan));
  const kept = Object.entries(statusOf(resource)).filter(
    ([key]) => !(key in plan.definition.status) && !(written.has(key) && key in status),
  );
  const next = { ...Object.fromEntries(kept), ...status };
  if (!Array.isArray(status.conditions)) return { ...resource, status: next };
  const ours = conditionTypesOf(plan);
  const others = conditionsOf(resource).filter(({ type }) => !ours.has(type));
  return { ...resource, status: { ...next, conditions: [...others, ...status.conditions] } };
}

/** The cluster state after the applies, as input of the report. */
export interface ReportingContext {
  readonly phase: Phase;
  /** Input of further phases. */
  readonly inputs: Pick<PhaseInput, 'children' | 'reads' | 'observed'>;
  /** False: an informer that the definition needs is not usable. Objects that it lacks are then unknown, not absent. */
  readonly isComplete: boolean;
}

/** Starts the phase *reporting*. */
export function startReporting(pass: Pass): ReportingContext {
  const { plan, watches } = pass.context;
  const children = new Map<string, ExpressionInput>();
  for (const [id, result] of pass.effects.children) children.set(id, childForReport(pass, result));
  const reads = new Map<string, ExpressionInput>();
  let isComplete = true;
  for (const [id, before] of pass.findings.reads) {
    const now = readAgain(pass, before);
    // Another cluster that cannot be read affects only what reads it.
    const isOfOther = now.request?.cluster !== undefined;
    if (isOfOther && !now.isKnown) reads.set(id, { state: 'unknown' });
    else reads.set(id, inputForReport(now.input));
    isComplete &&= isOfOther || now.isKnown;
  }
  for (const { informer, gvk } of watches.allChildren()) {
    isComplete &&= gvk.cluster !== undefined || isKnown(informer);
  }
  isComplete &&= pass.isInputKnown;
  const inputs = { children, reads, observed: observedForReport(pass) };
  const phase = plan.startPhase({ phase: 'reporting', ...pass.phaseInput, ...inputs });
  return { phase, inputs, isComplete };
}

/** Nothing waits in a report: what is waited for is absent. */
function inputForReport(input: ExpressionInput): ExpressionInput {
  return input.state === 'waiting' ? { state: 'absent', why: input.on } : input;
}

/** Starts the phase over the new status, as far as it is known by then. */
export function startReportPhase(
  pass: Pass,
  plan: NonNullable<OperatorPlan['reporting']>,
  { reporting, status }: { readonly reporting: ReportingContext; readonly status: Status },
): ReportPhase {
  return plan.startPhase({
    ...pass.phaseInput,
    ...reporting.inputs,
    resource: withNewStatus(pass, status),
    previous: pass.resource,
  });
}
