import type {
  AdmissionDefinition,
  AdmissionOperation,
  AdmissionRule,
  OperatorDefinition,
} from '#definition';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { admissionPolicyNameOf } from '#util/stored-names.ts';
import {
  type AdmissionContext,
  apiVersion,
  changedCondition,
  conditionsOfKind,
  matchConstraintsOf,
  notBeingDeleted,
  requestOperation,
} from './policy-match.ts';
import { type RuleReads, ruleReadsOf } from './rule-reads.ts';
import { celString, unchangedExpression, unionOf } from './unchanged.ts';

/** The users that delete what is in a namespace that is deleted, and what has lost its owner: they cannot answer a denial. */
const collectors = [
  'system:serviceaccount:kube-system:namespace-controller',
  'system:serviceaccount:kube-system:generic-garbage-collector',
  // Both, where the controller manager runs without "--use-service-account-credentials".
  'system:kube-controller-manager',
];

/** The ValidatingAdmissionPolicy of the rules of a definition. Pure. */
export function validatingPolicyOf(
  definition: OperatorDefinition,
  { rules, failurePolicy }: AdmissionDefinition,
  context: AdmissionContext,
): JsonObject {
  const ofUpdates = rules.filter(({ operations }) => operations.includes('Update'));
  const updateReads = unionOf(
    ofUpdates.map(({ rule }) => ruleReadsOf(rule, context.contentFields)),
  );
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: admissionPolicyNameOf(definition.name) },
    spec: {
      failurePolicy,
      matchConstraints: matchConstraintsOf(definition, operationsOf(rules), context),
      matchConditions: [
        ...commonConditions(rules, updateReads, context),
        ...conditionsOfKind(definition),
      ],
      validations: rules.map((rule) => validationOf(rule, updateReads, context)),
    },
  };
}

/** The binding that enforces the policy of a definition. Pure. */
export function policyBindingOf(
  { name }: OperatorDefinition,
  { action }: AdmissionDefinition,
): JsonObject {
  const policyName = admissionPolicyNameOf(name);
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: policyName },
    spec: { policyName, validationActions: [action] },
  };
}

function operationsOf(rules: readonly AdmissionRule[]): readonly AdmissionOperation[] {
  const all = new Set(rules.flatMap(({ operations }) => operations));
  return (['Create', 'Update', 'Delete'] as const).filter((each) => all.has(each));
}

function commonConditions(
  rules: readonly AdmissionRule[],
  updateReads: RuleReads,
  { contentFields }: AdmissionContext,
): readonly JsonObject[] {
  const operations = operationsOf(rules);
  return [
    notBeingDeleted,
    ...(operations.includes('Update') ? [changedCondition(contentFields, updateReads)] : []),
    ...(operations.includes('Delete')
      ? [
          {
            name: 'not-collected',
            expression: `request.operation != 'DELETE' || !(request.userInfo.username in [${collectors.map(celString).join(', ')}])`,
          },
        ]
      : []),
  ];
}

/** The rules whose requests or expression a stored policy does not have. Pure. */
export function rulesMissingIn(
  policy: JsonObject | undefined,
  rules: readonly AdmissionRule[],
): readonly AdmissionRule[] {
  const spec = isJsonObject(policy?.spec) ? policy.spec : {};
  const stored = (Array.isArray(spec.validations) ? spec.validations : []).map((each) =>
    isJsonObject(each) ? String(each.expression) : '',
  );
  return rules.filter((rule) => {
    const [start, end] = [guardOf(rule), bodyOf(rule)];
    return !stored.some((each) => each.startsWith(start) && each.endsWith(end));
  });
}

/** What makes a validation true for requests that a rule is not about. */
function guardOf({ operations }: AdmissionRule): string {
  const listed = operations.map((each) => celString(requestOperation(each))).join(', ');
  return `!(request.operation in [${listed}])`;
}

function bodyOf({ rule }: AdmissionRule): string {
  return ` || (${rule}\n)`;
}

/**
 * A rule applies to its requests only, and to updates of what it reads: another rule may read other labels.
 * @param updateReads what all rules for updates read
 */
function validationOf(
  written: AdmissionRule,
  updateReads: RuleReads,
  { contentFields, isNamespaced }: AdmissionContext,
): JsonObject {
  const { rule, message, operations, field } = written;
  const reads = ruleReadsOf(rule, contentFields);
  const isNarrower = !deepEqual(reads, updateReads);
  const isSkipped =
    operations.includes('Update') && isNarrower
      ? ` || (request.operation == 'UPDATE' && ${unchangedExpression(contentFields, reads)})`
      : '';
  // Conditions of policies do not see the namespace.
  const isEnding =
    operations.includes('Delete') && isNamespaced
      ? " || (request.operation == 'DELETE' && has(namespaceObject.metadata.deletionTimestamp))"
      : '';
  return {
    expression: `${guardOf(written)}${isSkipped}${isEnding}${bodyOf(written)}`,
    message: field === undefined ? message : `${field}: ${message}`,
  };
}
