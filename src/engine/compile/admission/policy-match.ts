import type { AdmissionOperation, OperatorDefinition, ServedNamespaces } from '#definition';
import { globPattern } from '#util/glob.ts';
import type { Json, JsonObject } from '#util/json.ts';
import type { LabelRequirement, LabelSelector } from '#util/label-selector.ts';
import type { RuleReads } from './rule-reads.ts';
import { celString, unchangedExpression } from './unchanged.ts';

/** What of the cluster the policies of a definition depend on. */
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
export const apiVersion = `${admissionGroup}/v1`;

export function requestOperation(operation: AdmissionOperation): string {
  return operation.toUpperCase();
}

/** Which requests a policy is about, as far as the API server selects them without an expression. */
export function matchConstraintsOf(
  { kind }: OperatorDefinition,
  operations: readonly AdmissionOperation[],
  context: AdmissionContext,
): JsonObject {
  const isForeign = kind.source === 'for';
  const { group, version } = kind.gvk;
  const namespaces = isForeign ? namespaceSelector(context) : undefined;
  const objects = isForeign ? objectSelector(kind.selector) : undefined;
  return {
    matchPolicy: 'Equivalent',
    ...(namespaces && { namespaceSelector: namespaces }),
    ...(objects && { objectSelector: objects }),
    resourceRules: [
      {
        apiGroups: [group],
        apiVersions: [version],
        resources: [context.plural],
        operations: operations.map(requestOperation),
        scope: '*',
      },
    ],
  };
}

/** The conditions of a kind of others: only what the definition selects. */
export function conditionsOfKind({ kind, controller }: OperatorDefinition): readonly JsonObject[] {
  if (kind.source !== 'for') return [];
  return [
    ...annotationConditions(kind.annotationSelector),
    ...namespaceConditions(controller.namespaces),
  ];
}

export const notBeingDeleted: JsonObject = {
  name: 'not-being-deleted',
  expression:
    "request.operation == 'DELETE' ? !has(oldObject.metadata.deletionTimestamp) : !has(object.metadata.deletionTimestamp)",
};

/** Of updates, only those that change the content or these labels and annotations. */
export function changedCondition(contentFields: readonly string[], reads: RuleReads): JsonObject {
  return {
    name: 'changed',
    expression: `request.operation != 'UPDATE' || !(${unchangedExpression(contentFields, reads)})`,
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
