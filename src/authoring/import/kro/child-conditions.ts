import { atom } from '../cel/cel-context.ts';
import { type Jsonata, level, operand, withDefault } from '../cel/jsonata.ts';
import { booleanType } from '../cel/value-type.ts';
import type { GraphResource } from './graph.ts';
import { referencesOf } from './references.ts';
import type { NeededField, ResourceUses } from './resource-uses.ts';
import {
  convertExpression,
  type GraphContext,
  graphVariables,
  readyVariables,
  tryConvert,
} from './scope.ts';

/**
 * `when`: the conditions of the resource, and those of the resources that it depends on, without which kro leaves it out, too. Empty: none.
 * Undefined: one has no equivalent, which is in the report of its own resource.
 */
export function convertConditions(
  resource: GraphResource,
  uses: ResourceUses,
  context: GraphContext,
): string | undefined {
  const variables = graphVariables(context);
  for (const each of resource.includeWhen) convertExpression(each, variables, context);
  return conditionOf(resource, uses, context);
}

function conditionOf(
  resource: GraphResource,
  uses: ResourceUses,
  context: GraphContext,
): string | undefined {
  const variables = graphVariables(context);
  const all = [...resource.includeWhen, ...uses.conditionsAbove(resource.id)].map(({ node }) =>
    tryConvert(node, variables, context),
  );
  return all.every((each) => each !== undefined) ? allOf(all.map(withoutMissing)) : undefined;
}

/** A plain path is the only condition that gets a default: the check of definitions asks for it. */
function withoutMissing(condition: Jsonata): Jsonata {
  const isPath = /^[\w.`$]+$/.test(condition.text);
  return isPath ? definite(condition) : condition;
}

/** False where there is no value. */
function definite(condition: Jsonata): Jsonata {
  if (condition.presence === 'always') return condition;
  return { ...condition, text: withDefault(condition, 'false'), level: level.default };
}

/** All conditions in one expression. */
function allOf(conditions: readonly Jsonata[]): string {
  const distinct = [...new Map(conditions.map((each) => [each.text, each])).values()];
  const [only] = distinct;
  if (distinct.length === 1 && only !== undefined) return only.text;
  return distinct.map((each) => operand(each, level.and)).join(' and ');
}

/** `ready`: `readyWhen`, and the fields that other resources need, for which kro waits. Undefined: neither. */
export function convertReadiness(
  resource: GraphResource,
  uses: ResourceUses,
  context: GraphContext,
): string | undefined {
  const variables = readyVariables(resource, context);
  const declared = resource.readyWhen.flatMap(
    (each) => convertExpression(each, variables, context) ?? [],
  );
  const fields = uses
    .neededFields(resource.id)
    .flatMap((field) => fieldCondition(resource, field, context));
  const all = [...declared.map(definite), ...fields];
  return all.length === 0 ? undefined : allOf(all);
}

/** The field exists, or the resources that need it are not wanted. */
function fieldCondition(
  resource: GraphResource,
  { node, by }: NeededField,
  context: GraphContext,
): readonly Jsonata[] {
  const path = tryConvert(node, readyVariables(resource, context), context);
  if (path === undefined) return [];
  const exists = atom(`$exists(${path.text})`, booleanType, 'always');
  const conditions = by.map((id) => ownCondition(id, resource, context));
  if (!conditions.every((each) => each !== undefined)) return [exists];
  const text = [...new Set(conditions)].map((each) => `$not(${each})`).join(' and ');
  const other = conditions.length > 1 ? `(${text})` : text;
  return [{ ...exists, text: `${exists.text} or ${other}`, level: level.or }];
}

/** The condition of a resource that needs a field. Undefined: there is none, or it depends on other objects. */
function ownCondition(
  id: string,
  needed: GraphResource,
  context: GraphContext,
): string | undefined {
  const resource = context.resources.get(id);
  const above = new Set(needed.includeWhen.map(({ cel }) => cel));
  const own = resource?.includeWhen.filter(({ cel }) => !above.has(cel)) ?? [];
  const readsObjects = own.some(({ node }) =>
    referencesOf(node).some(({ variable }) => context.resources.has(variable)),
  );
  if (resource === undefined || own.length === 0 || readsObjects) return undefined;
  const variables = graphVariables(context);
  const all = own.map(({ node }) => tryConvert(node, variables, context));
  return all.every((each) => each !== undefined) ? allOf(all.map(definite)) : undefined;
}
