import type { Json, JsonObject } from '../../util/json.ts';
import { listField, objectField } from '../json-fields.ts';
import { invalidField } from '../status/index.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { withDefaults } from './pod-defaults.ts';
import { resourceNames } from './resource-names.ts';

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
  validate(budget) {
    const spec = objectField(budget, 'spec') ?? {};
    if (spec.minAvailable === undefined || spec.maxUnavailable === undefined) return [];
    const detail = 'minAvailable and maxUnavailable cannot be both set';
    return [invalidField('spec', spec, detail)];
  },
};

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
  validate(autoscaler) {
    const spec = objectField(autoscaler, 'spec') ?? {};
    const [least, most] = [Number(spec.minReplicas ?? 1), Number(spec.maxReplicas ?? 0)];
    const detail = 'must be greater than or equal to `minReplicas`';
    return [
      ...(least < 1
        ? [invalidField('spec.minReplicas', least, 'must be greater than or equal to 1')]
        : []),
      ...(most < 1 ? [invalidField('spec.maxReplicas', most, 'must be greater than 0')] : []),
      ...(most < least ? [invalidField('spec.maxReplicas', most, detail)] : []),
    ];
  },
};

const cpuMetric: readonly Json[] = [
  {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
  },
];

const percentPolicy = { type: 'Percent', value: 100, periodSeconds: 15 };
const podsPolicy = { type: 'Pods', value: 4, periodSeconds: 15 };

/** A behavior of which something is said is completed as a whole. */
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
