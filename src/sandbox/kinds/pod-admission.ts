import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { forbidden } from '../status/api-errors.ts';
import type { ObjectLister } from './served-kind.ts';

const defaultTolerations = ['not-ready', 'unreachable'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

/** Applies the admission defaults to a new pod. */
export function admitPod(pod: JsonObject): JsonObject {
  const spec = objectField(pod, 'spec') ?? {};
  return { ...pod, status: { phase: 'Pending', qosClass: qualityOf(spec) } };
}

/** Adds the default tolerations for lost nodes, unless the pod has its own. */
export function withDefaultTolerations(pod: JsonObject): JsonObject {
  const spec = objectField(pod, 'spec') ?? {};
  const tolerations = listField(spec, 'tolerations').filter(isJsonObject);
  const missing = defaultTolerations.filter(
    ({ key }) =>
      !tolerations.some(
        (each) =>
          (each.key === key || each.key === undefined) &&
          (each.effect === 'NoExecute' || each.effect === undefined),
      ),
  );
  if (missing.length === 0) return pod;
  return { ...pod, spec: { ...spec, tolerations: [...tolerations, ...missing] } };
}

/** Sets the priority from the pod's PriorityClass. @throws StatusError 403 when the class does not exist */
export function withPriority(pod: JsonObject, objects: ObjectLister): JsonObject {
  const spec = objectField(pod, 'spec') ?? {};
  const name = stringField(spec, 'priorityClassName') ?? '';
  const classes = objects.list('scheduling.k8s.io/priorityclasses');
  const metadataOf = (object: JsonObject) => objectField(object, 'metadata') ?? {};
  const found = classes.find((each) =>
    name === '' ? each.globalDefault === true : metadataOf(each).name === name,
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

/** Missing requests default to the limits; only for Pods, not for templates. */
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
    resources.map((each) => objectField(each, name) ?? {});
  const all = [...part('limits'), ...part('requests')];
  if (all.every((each) => Object.keys(each).length === 0)) return 'BestEffort';
  const isGuaranteed = resources.every((each) => {
    const [limits, requests] = [
      objectField(each, 'limits') ?? {},
      objectField(each, 'requests') ?? {},
    ];
    return ['cpu', 'memory'].every(
      (name) => limits[name] !== undefined && limits[name] === requests[name],
    );
  });
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}
