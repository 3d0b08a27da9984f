import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField } from '../json-fields.ts';
import { pathSegment } from '../metadata/name-rules.ts';
import { invalidField } from '../status/field-error.ts';
import { autoscalerErrors } from './autoscaler-checks.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { type Check, errorsOf, fields, oneOf, optional } from './field-checks.ts';
import { withDefaults } from './pod-defaults.ts';
import { labelSelector } from './selector-rules.ts';
import { resourceNames } from './served-kind.ts';
import { shareErrors, shareOfAllErrors } from './share-rules.ts';

export const disruptionBudgetRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    namespaced: true,
    shortNames: ['pdb'],
  }),
  hasStatus: true,
  hasGeneration: true,
  allowsUnconditionalUpdate: false,
  nameRule: pathSegment,
  validate: (budget) => errorsOf(budgetChecks, budget),
};

/** The server prints its own struct, in its order of fields. */
const oneLimit: Check = ({ value, at }) => {
  const spec = isJsonObject(value) ? value : {};
  if (spec.minAvailable === undefined || spec.maxUnavailable === undefined) return [];
  const detail = 'minAvailable and maxUnavailable cannot be both set';
  return [invalidField(at, spec, detail)];
};

const share: Check = optional(({ value, at }) => [
  ...shareErrors(value, at),
  ...shareOfAllErrors(value, at),
]);

const budgetChecks = fields({
  spec: oneLimit,
  'spec.minAvailable': share,
  'spec.maxUnavailable': share,
  'spec.selector': labelSelector,
  'spec.unhealthyPodEvictionPolicy': optional(oneOf('AlwaysAllow', 'IfHealthyBudget')),
});

export const autoscalerRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
    namespaced: true,
    shortNames: ['hpa'],
    categories: ['all'],
  }),
  hasStatus: true,
  writtenZeros(autoscaler) {
    const status = objectField(autoscaler, 'status');
    if (status === undefined) return autoscaler;
    return { ...autoscaler, status: withDefaults(status, { currentMetrics: null }) };
  },
  fillDefaults(autoscaler) {
    const spec = objectField(autoscaler, 'spec') ?? {};
    const metrics = listField(spec, 'metrics');
    const behavior = objectField(spec, 'behavior');
    const filled: JsonObject = {
      ...withDefaults(spec, { minReplicas: 1 }),
      ...(metrics.length > 0 ? {} : { metrics: cpuMetric }),
      ...(behavior === undefined ? {} : { behavior: withScalingRules(behavior) }),
    };
    return { ...autoscaler, spec: filled };
  },
  validate: (autoscaler) => autoscalerErrors(objectField(autoscaler, 'spec') ?? {}),
};

const cpuMetric: readonly Json[] = [
  {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
  },
];

const percentPolicy = { type: 'Percent', value: 100, periodSeconds: 15 };
const podsPolicy = { type: 'Pods', value: 4, periodSeconds: 15 };

/** A behavior with any field set gets all defaults. */
function withScalingRules(behavior: JsonObject): JsonObject {
  const [up, down] = [objectField(behavior, 'scaleUp'), objectField(behavior, 'scaleDown')];
  return {
    scaleUp: withDefaults(up ?? {}, {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [podsPolicy, percentPolicy],
    }),
    scaleDown: withDefaults(down ?? {}, { selectPolicy: 'Max', policies: [percentPolicy] }),
  };
}
