import type {
  AdmissionDefinition,
  AdmissionOperation,
  AdmissionRule,
  OperatorDefinition,
  ServedNamespaces,
} from '#definition';
import { deepEqual } from '#util/deep-equal.ts';
import { globPattern } from '#util/glob.ts';
import type { Json, JsonObject } from '#util/json.ts';
import type { LabelRequirement, LabelSelector } from '#util/label-selector.ts';
import { admissionPolicyNameOf } from '#util/stored-names.ts';
import { type MetadataReads, metadataReadsOf } from './metadata-reads.ts';
import { celString, unchangedExpression, unionOf } from './unchanged.ts';

/** What of the cluster the policy of a definition depends on. */
export interface AdmissionContext {
  /** The kind in paths of the API. */
  readonly plural: string;
  /** Whether its objects are in namespaces. */
  readonly isNamespaced: boolean;
  /** The fields beside `metadata` and `status` that rules may read. */
  readonly contentFields: readonly string[];
  /** Namespaces of the runtime and its definitions: their objects of a kind of others are never blocked. */
  readonly guardedNamespaces: Iterable<string>;
}

export const admissionGroup = 'admissionregistration.k8s.io';
const apiVersion = `${admissionGroup}/v1`;

/** The users that delete what is in a namespace that is deleted, and what has lost its owner: they cannot answer a denial. */
const collectors = [
  'system:serviceaccount:kube-system:namespace-controller',
  'system:serviceaccount:kube-system:generic-garbage-collector',
  // Both, where the controller manager runs without "--use-service-account-credentials".
  'system:kube-controller-manager',
];

/** The ValidatingAdmissionPolicy of the rules of a definition. Pure. */
export function validatingPolicyOf(
  { name, kind, controller }: OperatorDefinition,
  { rules, failurePolicy }: AdmissionDefinition,
  context: AdmissionContext,
): JsonObject {
  const isForeign = kind.source === 'for';
  const { group, version } = kind.gvk;
  const namespaces = isForeign ? namespaceSelector(context) : undefined;
  const objects = isForeign ? objectSelector(kind.selector) : undefined;
  const ofUpdates = rules.filter(({ operations }) => operations.includes('Update'));
  const updateReads = unionOf(ofUpdates.map(({ rule }) => metadataReadsOf(rule)));
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: admissionPolicyNameOf(name) },
    spec: {
      failurePolicy,
      matchConstraints: {
        matchPolicy: 'Equivalent',
        ...(namespaces && { namespaceSelector: namespaces }),
        ...(objects && { objectSelector: objects }),
        resourceRules: [
          {
            apiGroups: [group],
            apiVersions: [version],
            resources: [context.plural],
            operations: operationsOf(rules).map(requestOperation),
            scope: '*',
          },
        ],
      },
      matchConditions: [
        ...commonConditions(rules, updateReads, context),
        ...(isForeign ? annotationConditions(kind.annotationSelector) : []),
        ...(isForeign ? namespaceConditions(controller.namespaces) : []),
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

function requestOperation(operation: AdmissionOperation): string {
  return operation.toUpperCase();
}

function commonConditions(
  rules: readonly AdmissionRule[],
  updateReads: MetadataReads,
  { contentFields }: AdmissionContext,
): readonly JsonObject[] {
  const operations = operationsOf(rules);
  return [
    {
      name: 'not-being-deleted',
      expression:
        "request.operation == 'DELETE' ? !has(oldObject.metadata.deletionTimestamp) : !has(object.metadata.deletionTimestamp)",
    },
    ...(operations.includes('Update')
      ? [
          {
            name: 'changed',
            expression: `request.operation != 'UPDATE' || !(${unchangedExpression(contentFields, updateReads)})`,
          },
        ]
      : []),
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

/**
 * A rule applies to its requests only, and to updates of what it reads: another rule may read other labels.
 * @param updateReads what all rules for updates read
 */
function validationOf(
  { rule, message, operations, field }: AdmissionRule,
  updateReads: MetadataReads,
  { contentFields, isNamespaced }: AdmissionContext,
): JsonObject {
  const listed = operations.map((each) => celString(requestOperation(each))).join(', ');
  const reads = metadataReadsOf(rule);
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
    expression: `!(request.operation in [${listed}])${isSkipped}${isEnding} || (${rule}\n)`,
    message: field === undefined ? message : `${field}: ${message}`,
  };
}

/** Every namespace has the label of its name. */
function namespaceSelector({ guardedNamespaces }: AdmissionContext): JsonObject {
  const values = [...new Set(['kube-system', ...guardedNamespaces])].sort();
  return {
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values }],
  };
}

function objectSelector(selector: LabelSelector | undefined): JsonObject | undefined {
  if (selector === undefined) return undefined;
  const { matchLabels, matchExpressions = [] } = selector;
  return {
    ...(matchLabels && Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && {
      matchExpressions: matchExpressions.map(
        ({ key, operator, values = [] }): Json => ({
          key,
          operator,
          ...(values.length > 0 && { values }),
        }),
      ),
    }),
  };
}

/** The object that a request is about; a deletion has only the stored one. */
const subject = "(request.operation == 'DELETE' ? oldObject : object)";

function annotationConditions(selector: LabelSelector | undefined): readonly JsonObject[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const requirements: readonly LabelRequirement[] = [
    ...Object.entries(matchLabels).map(([key, value]) => ({
      key,
      operator: 'In' as const,
      values: [value],
    })),
    ...matchExpressions,
  ];
  if (requirements.length === 0) return [];
  const expression = requirements.map(requirementExpression).join(' && ');
  return [{ name: 'selected-annotations', expression }];
}

function requirementExpression({ key, operator, values = [] }: LabelRequirement): string {
  const annotations = `${subject}.metadata.annotations`;
  const literal = celString(key);
  const exists = `(has(${annotations}) && ${literal} in ${annotations})`;
  const isOne = `${annotations}[${literal}] in [${values.map(celString).join(', ')}]`;
  switch (operator) {
    case 'Exists':
      return exists;
    case 'DoesNotExist':
      return `!${exists}`;
    case 'In':
      return `${exists} && ${isOne}`;
    case 'NotIn':
      return `!(${exists} && ${isOne})`;
  }
}

function namespaceConditions(namespaces: ServedNamespaces | undefined): readonly JsonObject[] {
  if (namespaces === undefined) return [];
  const { include, exclude } = namespaces;
  const matches = (globs: readonly string[]) =>
    `request.namespace.matches(${celString(`^(?:${globs.map(globPattern).join('|')})$`)})`;
  const parts = [
    ...(include === undefined ? [] : [matches(include)]),
    ...(exclude.length === 0 ? [] : [`!${matches(exclude)}`]),
  ];
  if (parts.length === 0) return [];
  return [
    { name: 'served-namespaces', expression: `!has(request.namespace) || (${parts.join(' && ')})` },
  ];
}
