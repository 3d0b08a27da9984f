import type { OperatorPlan, RenderedCondition, SchemaType } from '../../compile/index.ts';
import { conditionsOf } from '../../util/conditions-of.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { Pass } from '../pass/pass.ts';
import { isForeign } from '../status-fields.ts';
import { type Condition, createCondition } from './conditions.ts';
import type { MappedStatus } from './map-status.ts';
import { withNewStatus } from './new-status.ts';
import type { ReportedWorld } from './start-reporting.ts';

/** The conditions of the author's, and why some could not be told. */
export interface AuthorConditions {
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

function lastConditions({ resource }: Pass, types: readonly string[]): readonly Condition[] {
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
