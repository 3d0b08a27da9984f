import type { OperatorPlan, RenderedCondition, SchemaType } from '../../compile/index.ts';
import { conditionsOf } from '../../util/conditions-of.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { isForeign } from '../status-fields.ts';
import { type MappedStatus, withNewStatus } from './map-status.ts';
import type { ReportedWorld } from './start-reporting.ts';
import type { Summary } from './summary.ts';

/** A `metav1.Condition`. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

export interface ConditionsOptions {
  /** As the pass began: its conditions say since when something is so. */
  readonly resource: KubeObject;
  readonly summary: Summary;
  /** ISO 8601. */
  readonly now: string;
}

/** The standard conditions. `Reconciling` and `Stalled` are there only while they are true (kstatus). */
export function standardConditions(options: ConditionsOptions): readonly Condition[] {
  const { isReconciling, isStalled, reason } = options.summary;
  const conditions = [condition('Ready', reason === 'AllReady' ? 'True' : 'False', options)];
  if (isReconciling) conditions.push(condition('Reconciling', 'True', options));
  if (isStalled) conditions.push(condition('Stalled', 'True', options));
  return conditions;
}

function condition(
  type: string,
  status: Condition['status'],
  { resource, summary, now }: ConditionsOptions,
): Condition {
  const { reason, message } = summary;
  return createCondition({ type, status, reason, message }, { resource, now });
}

/** A condition as it is said now; the time of its last transition changes with its status only. */
function createCondition(
  said: Pick<Condition, 'type' | 'status' | 'reason' | 'message'>,
  { resource, now }: Pick<ConditionsOptions, 'resource' | 'now'>,
): Condition {
  const before = conditionsOf(resource).find(({ type }) => type === said.type);
  const since = before?.status === said.status ? before.lastTransitionTime : undefined;
  return {
    ...said,
    observedGeneration: resource.metadata.generation ?? 0,
    // To the second, as the API's own times are.
    lastTransitionTime: typeof since === 'string' ? since : now.replace(/\.\d+Z$/, 'Z'),
  };
}

/** The conditions of the author's, and why some could not be told. */
interface AuthorConditions {
  readonly conditions: readonly Condition[];
  readonly problems: readonly Problem[];
}

const none: AuthorConditions = { conditions: [], problems: [] };

/** Evaluates them over the new status. They stay as they are while something that they may read is not known. */
export async function authorConditions(
  pass: Pass,
  { seen, isKnown }: ReportedWorld,
  { fields }: MappedStatus,
): Promise<AuthorConditions> {
  const { reporting } = pass.context.plan;
  if (reporting === undefined || reporting.conditionTypes.length === 0) return none;
  if (!isKnown) return { ...none, conditions: lastConditions(pass, reporting.conditionTypes) };
  const phase = reporting.startPhase({
    ...pass.phaseInput,
    ...seen,
    resource: withNewStatus(pass, fields),
    previous: pass.resource,
  });
  const rendered = await phase.conditions();
  return {
    conditions: rendered.map((each) => conditionOf(pass, each)),
    problems: rendered.flatMap(({ failure }) =>
      failure === undefined ? [] : [problemOfRender(failure)],
    ),
  };
}

/** As the API has it for conditions: a longer message would have the whole status refused. */
const longestMessage = 32_768;

function conditionOf(pass: Pass, { failure: _, ...said }: RenderedCondition): Condition {
  const { resource, phaseInput, context } = pass;
  const cut = { ...said, message: said.message.slice(0, longestMessage) };
  return fitted(context.plan, createCondition(cut, { resource, now: phaseInput.now }));
}

function lastConditions({ resource }: Given, types: readonly string[]): readonly Condition[] {
  return conditionsOf(resource).filter(({ type }) =>
    types.includes(String(type)),
  ) as unknown as readonly Condition[];
}

/** Kinds of others may have conditions with fewer fields, and refuse the rest. */
function fitted(plan: OperatorPlan, condition: Condition): Condition {
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
