import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { type FieldError, forbiddenField, invalidField, requiredField } from '../status/index.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { segmentErrors } from './ingress-rules.ts';
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
  validate: (autoscaler) => autoscalerErrors(objectField(autoscaler, 'spec') ?? {}),
};

function autoscalerErrors(spec: JsonObject): readonly FieldError[] {
  const [least, most] = [Number(spec.minReplicas ?? 1), Number(spec.maxReplicas ?? 0)];
  const target = objectField(spec, 'scaleTargetRef') ?? {};
  const [few, many] = ['must be greater than or equal to 1', 'must be set and greater than 0'];
  const reversed = 'must be greater than or equal to `minReplicas`';
  const at = 'spec.scaleTargetRef';
  const toZero =
    'must specify at least one Object or External metric to support scaling to zero replicas';
  const isCounted = listField(spec, 'metrics').some(
    (metric) => isJsonObject(metric) && ['Object', 'External'].includes(String(metric.type)),
  );
  return [
    ...(least < 1 ? [invalidField('spec.minReplicas', least, few)] : []),
    ...(most === 0 ? [requiredField('spec.maxReplicas', many)] : []),
    ...(most < 0 ? [invalidField('spec.maxReplicas', most, few)] : []),
    ...(most < least ? [invalidField('spec.maxReplicas', most, reversed)] : []),
    ...['kind', 'name'].flatMap((name) => segmentErrors(target, name, at)),
    ...(least === 0 && !isCounted ? [forbiddenField('spec.metrics', toZero)] : []),
    ...versionErrors(stringField(target, 'apiVersion') ?? '', `${at}.apiVersion`),
  ];
}

function versionErrors(version: string, at: string): readonly FieldError[] {
  const slashes = version.split('/').length - 1;
  if (slashes > 1) return [invalidField(at, version, `unexpected GroupVersion string: ${version}`)];
  const hasGroup = slashes === 1 && !version.startsWith('/');
  return hasGroup ? [] : [invalidField(at, version, 'apiVersion must specify API group')];
}

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
