import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { forbidden } from '../status/index.ts';
import type { ObjectWorld } from './served-kind.ts';

const evictions = ['not-ready', 'unreachable'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

/** A pod that is created. */
export function admitPod(pod: JsonObject): JsonObject {
  const spec = objectField(pod, 'spec') ?? {};
  return { ...pod, status: { phase: 'Pending', qosClass: qualityOf(spec) } };
}

/** Pods stay for a while on a node that is lost, unless they say otherwise. */
export function withEvictions(pod: JsonObject): JsonObject {
  const spec = objectField(pod, 'spec') ?? {};
  const tolerations = listField(spec, 'tolerations').filter(isJsonObject);
  const missing = evictions.filter(
    ({ key }) =>
      !tolerations.some(
        (one) =>
          (one.key === key || one.key === undefined) &&
          (one.effect === 'NoExecute' || one.effect === undefined),
      ),
  );
  if (missing.length === 0) return pod;
  return { ...pod, spec: { ...spec, tolerations: [...tolerations, ...missing] } };
}

/** What a pod's class of priority means. @throws StatusError 403 for a class that is not there */
export function withPriority(pod: JsonObject, world: ObjectWorld): JsonObject {
  const spec = objectField(pod, 'spec') ?? {};
  const name = stringField(spec, 'priorityClassName') ?? '';
  const classes = world.list('scheduling.k8s.io/priorityclasses');
  const metadataOf = (object: JsonObject) => objectField(object, 'metadata') ?? {};
  const found = classes.find((one) =>
    name === '' ? one.globalDefault === true : metadataOf(one).name === name,
  );
  if (name !== '' && found === undefined) {
    const podName = stringField(metadataOf(pod), 'name') ?? '';
    const because = `no PriorityClass with name ${name} was found`;
    throw forbidden({ group: '', plural: 'pods' }, podName, because);
  }
  const { value = 0, preemptionPolicy = 'PreemptLowerPriority' } = found ?? {};
  const named = found === undefined ? {} : { priorityClassName: metadataOf(found).name };
  return { ...pod, spec: { ...spec, ...named, priority: value, preemptionPolicy } };
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
