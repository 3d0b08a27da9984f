import type { AdmissionDefault, AdmissionDefinition, OperatorDefinition } from '#definition';
import type { JsonObject } from '#util/json.ts';
import { pointerTo } from '#util/json.ts';
import { admissionPolicyNameOf } from '#util/stored-names.ts';
import {
  type AdmissionContext,
  apiVersion,
  changedCondition,
  conditionsOfKind,
  matchConstraintsOf,
  notBeingDeleted,
} from './policy-match.ts';
import { type RuleReads, ruleReadsOf } from './rule-reads.ts';
import { celString, isSelectable } from './unchanged.ts';

/** The MutatingAdmissionPolicy of the defaults of a definition. Pure. */
export function mutatingPolicyOf(
  definition: OperatorDefinition,
  { defaults, failurePolicy }: AdmissionDefinition,
  context: AdmissionContext,
): JsonObject {
  return {
    apiVersion,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: admissionPolicyNameOf(definition.name) },
    spec: {
      failurePolicy,
      // Another policy may add what a value reads.
      reinvocationPolicy: 'IfNeeded',
      matchConstraints: matchConstraintsOf(definition, ['Create', 'Update'], context),
      matchConditions: [
        notBeingDeleted,
        changedCondition(context.contentFields, readsOf(defaults, context)),
        ...conditionsOfKind(definition),
      ],
      // One mutation each: it sees the values of those before.
      mutations: defaults.map((each) => ({
        patchType: 'JSONPatch',
        jsonPatch: { expression: patchExpression(each) },
      })),
    },
  };
}

/** The binding that applies the defaults of a definition. Pure. */
export function mutatingBindingOf({ name }: OperatorDefinition): JsonObject {
  const policyName = admissionPolicyNameOf(name);
  return {
    apiVersion,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: policyName },
    spec: { policyName },
  };
}

/**
 * What decides whether a default is set: its field, also one that the schema permits without naming it, and the top-level fields that its
 * value names. Of labels and annotations, those that have a default: an update that removes one gets it again.
 */
function readsOf(
  defaults: readonly AdmissionDefault[],
  { contentFields }: AdmissionContext,
): RuleReads {
  const set = defaults.flatMap(({ steps: [first] }) =>
    first === undefined || first === 'metadata' || contentFields.includes(first) ? [] : [first],
  );
  const read = defaults.flatMap(({ value }) => ruleReadsOf(value, contentFields).content);
  const keysOf = (map: string) =>
    defaults.flatMap(({ steps: [first, second, key] }) =>
      first === 'metadata' && second === map && key !== undefined ? [key] : [],
    );
  return {
    labels: keysOf('labels'),
    annotations: keysOf('annotations'),
    content: [...new Set([...set, ...read])].sort(),
  };
}

/**
 * The operations that set a field which is missing. A parent that exists is kept, also one that is null or has no fields: its user has left
 * it empty on purpose, or the schema rejects it.
 */
function patchExpression({ steps, value }: AdmissionDefault): string {
  const places = steps.map((step, index) => ({
    object: steps.slice(0, index).reduce(select, 'object'),
    step,
    path: steps.slice(0, index + 1).reduce(pointerTo, ''),
  }));
  const parents = places.slice(0, -1);
  const isMissing = places.reduceRight((inner, { object, step }) => {
    const isAbsent = `!${existsIn(object, step)}`;
    if (inner === '') return isAbsent;
    return `(${isAbsent} || (type(${select(object, step)}) == map && ${inner}))`;
  }, '');
  const created = parents.map(({ path }, index) => {
    const parent = steps.slice(0, index + 1).reduce(selectOptional, 'object');
    return `(${parent}.hasValue() ? [] : [JSONPatch{op: 'add', path: ${celString(path)}, value: {}}])`;
  });
  const leaf = celString(places.at(-1)?.path ?? '');
  const set = `[JSONPatch{op: 'add', path: ${leaf}, value: (${value}\n)}]`;
  return `${isMissing} ? ${[...created, set].join(' + ')} : []`;
}

function select(object: string, step: string): string {
  return isSelectable(step) ? `${object}.${step}` : `${object}[${celString(step)}]`;
}

function selectOptional(object: string, step: string): string {
  return isSelectable(step) ? `${object}.?${step}` : `${object}[?${celString(step)}]`;
}

function existsIn(object: string, step: string): string {
  return isSelectable(step) ? `has(${object}.${step})` : `(${celString(step)} in ${object})`;
}
