import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField } from '../json-fields.ts';
import { withDefaults } from './pod-defaults.ts';

const evictions = ['not-ready', 'unreachable'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

/** A pod that is created: what admission adds to it belongs to nobody. */
export function admitPod(pod: JsonObject): JsonObject {
  const spec = objectField(pod, 'spec') ?? {};
  const tolerations = [...listField(spec, 'tolerations'), ...evictions];
  const admitted = withDefaults(
    { ...spec, tolerations },
    { priority: 0, preemptionPolicy: 'PreemptLowerPriority' },
  );
  return {
    ...pod,
    spec: admitted,
    status: { phase: 'Pending', qosClass: qualityOf(spec) },
  };
}

/** Limits are requests, too, where nothing else is said; of Pods, not of templates. */
export function withRequests(spec: JsonObject): JsonObject {
  const containers = listField(spec, 'containers').map((container) => {
    const resources = isJsonObject(container) ? objectField(container, 'resources') : undefined;
    const limits = resources && objectField(resources, 'limits');
    if (!isJsonObject(container) || resources === undefined || limits === undefined)
      return container;
    const requests = { ...limits, ...objectField(resources, 'requests') };
    return { ...container, resources: { ...resources, requests } };
  });
  return containers.length === 0 ? spec : { ...spec, containers };
}

function qualityOf(spec: JsonObject): string {
  const resources = listField(spec, 'containers').map((container) =>
    isJsonObject(container) ? (objectField(container, 'resources') ?? {}) : {},
  );
  const part = (name: 'limits' | 'requests') =>
    resources.map((one) => objectField(one, name) ?? {});
  const all = [...part('limits'), ...part('requests')];
  if (all.every((one) => Object.keys(one).length === 0)) return 'BestEffort';
  const isGuaranteed = resources.every((one) => {
    const [limits, requests] = [
      objectField(one, 'limits') ?? {},
      objectField(one, 'requests') ?? {},
    ];
    return ['cpu', 'memory'].every(
      (name) => limits[name] !== undefined && limits[name] === requests[name],
    );
  });
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}
