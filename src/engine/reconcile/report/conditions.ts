import type { OperatorPlan, RenderedCondition, SchemaType } from '#compile';
import { type Condition, type ConditionContent, conditionFor } from '#util/condition.ts';
import { conditionsOf } from '#util/kube-object.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { isForeign } from '../status-fields.ts';
import { type MappedStatus, type ReportingContext, startReportPhase } from './map-status.ts';
import type { Summary } from './summary.ts';

/** The standard conditions. `Reconciling` and `Stalled` are present only while they are true (kstatus). */
export function standardConditions(pass: PassInput, summary: Summary): readonly Condition[] {
  const { reason, message, isReconciling, isStalled } = summary;
  const ready = reason === 'AllReady' ? 'True' : 'False';
  const conditions = [reportedCondition(pass, { type: 'Ready', status: ready, reason, message })];
  for (const [type, isTrue] of [
    ['Reconciling', isReconciling],
    ['Stalled', isStalled],
  ] as const) {
    if (isTrue) conditions.push(reportedCondition(pass, { type, status: 'True', reason, message }));
  }
  return conditions;
}

/** Its transition time is that of the previous one if the status is the same. Also for a kind without generations it has one. */
function reportedCondition(
  { resource, phaseInput: { now } }: PassInput,
  content: ConditionContent,
): Condition {
  const observedGeneration = resource.metadata.generation ?? 0;
  return conditionFor(content, { object: resource, now, observedGeneration });
}

/** The conditions of the definition's author, and errors in them. */
interface AuthorConditions {
  readonly conditions: readonly Condition[];
  readonly problems: readonly Problem[];
}

const none: AuthorConditions = { conditions: [], problems: [] };

/** Evaluates the author's conditions over the new status. They keep their last values while an informer that they may read is not usable. */
export async function authorConditions(
  pass: Pass,
  reporting: ReportingContext,
  { fields }: MappedStatus,
): Promise<AuthorConditions> {
  const { reporting: plan } = pass.context.plan;
  if (plan === undefined || plan.conditionTypes.length === 0) return none;
  if (!reporting.isComplete)
    return { ...none, conditions: lastConditions(pass, plan.conditionTypes) };
  const phase = startReportPhase(pass, plan, { reporting, status: fields });
  const rendered = await phase.conditions();
  return {
    conditions: rendered.flatMap((each) =>
      each.isKept === true ? lastConditions(pass, [each.type]) : [conditionOf(pass, each)],
    ),
    problems: rendered.flatMap(({ failure }) =>
      failure === undefined ? [] : [problemOfRender(failure)],
    ),
  };
}

/** The limit of the API: a longer message would make the whole status invalid. */
const maxMessageLength = 32_768;

function conditionOf(
  pass: Pass,
  { failure: _, isKept: __, ...said }: RenderedCondition,
): Condition {
  const cut = { ...said, message: said.message.slice(0, maxMessageLength) };
  return fitSchema(pass.context.plan, reportedCondition(pass, cut));
}

function lastConditions({ resource }: PassInput, types: readonly string[]): readonly Condition[] {
  return conditionsOf(resource).filter(({ type }) =>
    types.includes(String(type)),
  ) as unknown as readonly Condition[];
}

/** Removes fields that the schema of the kind does not have: kinds of `for` may have conditions with fewer fields and reject others. */
function fitSchema(plan: OperatorPlan, condition: Condition): Condition {
  if (!isForeign(plan)) return condition;
  const known = fieldsOfConditions(plan.resourceType);
  if (known === undefined) return condition;
  const kept = Object.entries(condition).filter(([field]) => known.has(field));
  return Object.fromEntries(kept) as unknown as Condition;
}

function fieldsOfConditions(resource: SchemaType): ReadonlyMap<string, unknown> | undefined {
  const status = fieldOf(resource, 'status');
  const conditions = fieldOf(status, 'conditions');
  const item = conditions?.kind === 'list' ? conditions.item : undefined;
  return item?.kind === 'struct' && !item.open ? item.fields : undefined;
}

function fieldOf(type: SchemaType | undefined, field: string): SchemaType | undefined {
  return type?.kind === 'struct' ? type.fields.get(field)?.type : undefined;
}
