import type { JsonObject } from '#util/json.ts';
import {
  ageOf,
  conditionOf,
  countIn,
  nameOf,
  none,
  objectIn,
  objectsIn,
  type PrintedRow,
  shortened,
  stringIn,
  timeSince,
} from './cell-values.ts';

export function configMapRow(map: JsonObject, nowMs: number): PrintedRow {
  const keys = [...Object.keys(objectIn(map, 'data')), ...Object.keys(objectIn(map, 'binaryData'))];
  return { cells: [nameOf(map), keys.length, ageOf(map, nowMs)] };
}

export function secretRow(secret: JsonObject, nowMs: number): PrintedRow {
  const keys = Object.keys(objectIn(secret, 'data'));
  return { cells: [nameOf(secret), stringIn(secret, 'type'), keys.length, ageOf(secret, nowMs)] };
}

export function namespaceRow(namespace: JsonObject, nowMs: number): PrintedRow {
  const phase = stringIn(objectIn(namespace, 'status'), 'phase');
  return { cells: [nameOf(namespace), phase, ageOf(namespace, nowMs)] };
}

/** A kind whose only other column is its age. */
export function ageRow(object: JsonObject, nowMs: number): PrintedRow {
  return { cells: [nameOf(object), ageOf(object, nowMs)] };
}

/** A kind without its own columns shows the creation time. */
export function creationRow(object: JsonObject): PrintedRow {
  return { cells: [nameOf(object), objectIn(object, 'metadata').creationTimestamp ?? null] };
}

export function webhooksRow(configuration: JsonObject, nowMs: number): PrintedRow {
  const count = objectsIn(configuration, 'webhooks').length;
  return { cells: [nameOf(configuration), count, ageOf(configuration, nowMs)] };
}

const unset = '<unset>';

export function admissionPolicyRow(policy: JsonObject, nowMs: number): PrintedRow {
  const spec = objectIn(policy, 'spec');
  const rules = [...objectsIn(spec, 'validations'), ...objectsIn(spec, 'mutations')];
  const { apiVersion, kind } = objectIn(spec, 'paramKind');
  const params = kind === undefined ? unset : `${apiVersion}/${kind}`;
  return { cells: [nameOf(policy), rules.length, params, ageOf(policy, nowMs)] };
}

export function policyBindingRow(binding: JsonObject, nowMs: number): PrintedRow {
  const spec = objectIn(binding, 'spec');
  const { name, namespace = '*' } = objectIn(spec, 'paramRef');
  const params = name === undefined ? unset : `${namespace}/${name}`;
  const cells = [nameOf(binding), stringIn(spec, 'policyName'), params, ageOf(binding, nowMs)];
  return { cells };
}

export function leaseRow(lease: JsonObject, nowMs: number): PrintedRow {
  const holder = stringIn(objectIn(lease, 'spec'), 'holderIdentity');
  return { cells: [nameOf(lease), holder, ageOf(lease, nowMs)] };
}

export function priorityClassRow(priority: JsonObject, nowMs: number): PrintedRow {
  return {
    cells: [
      nameOf(priority),
      countIn(priority, 'value'),
      priority.globalDefault === true,
      ageOf(priority, nowMs),
      stringIn(priority, 'preemptionPolicy'),
    ],
  };
}

export function bindingRow(binding: JsonObject, nowMs: number): PrintedRow {
  const role = objectIn(binding, 'roleRef');
  const subjects = objectsIn(binding, 'subjects');
  const named = (kind: string, text: (subject: JsonObject) => string) =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(text)
      .join(', ');
  const name = (subject: JsonObject) => stringIn(subject, 'name');
  return {
    cells: [
      nameOf(binding),
      `${stringIn(role, 'kind')}/${stringIn(role, 'name')}`,
      ageOf(binding, nowMs),
      named('User', name),
      named('Group', name),
      named('ServiceAccount', (subject) => `${stringIn(subject, 'namespace')}/${name(subject)}`),
    ],
  };
}

export function quotaRow(quota: JsonObject, nowMs: number): PrintedRow {
  const [hard, used] = [objectIn(quota, 'status', 'hard'), objectIn(quota, 'status', 'used')];
  const texts = Object.keys(hard)
    .sort()
    .map((name) => ({
      isLimit: name.startsWith('limits.'),
      text: `${name}: ${used[name] ?? '0'}/${hard[name]}`,
    }));
  const joined = (isLimit: boolean) =>
    texts
      .filter((entry) => entry.isLimit === isLimit)
      .map(({ text }) => text)
      .join(', ');
  return { cells: [nameOf(quota), joined(false), joined(true), ageOf(quota, nowMs)] };
}

export function nodeRow(node: JsonObject, nowMs: number): PrintedRow {
  const info = objectIn(node, 'status', 'nodeInfo');
  const ready = conditionOf(node, 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  const isClosed = objectIn(node, 'spec').unschedulable === true;
  const architecture = stringIn(info, 'architecture');
  const kernel = stringIn(info, 'kernelVersion') || '<unknown>';
  return {
    cells: [
      nameOf(node),
      isClosed ? `${state},SchedulingDisabled` : state,
      rolesText(node),
      ageOf(node, nowMs),
      stringIn(info, 'kubeletVersion'),
      addressOf(node, 'InternalIP'),
      addressOf(node, 'ExternalIP'),
      stringIn(info, 'osImage') || '<unknown>',
      architecture === '' ? kernel : `${kernel} (${architecture})`,
      stringIn(info, 'containerRuntimeVersion') || '<unknown>',
    ],
  };
}

const rolePrefix = 'node-role.kubernetes.io/';

function rolesText(node: JsonObject): string {
  const roles = Object.entries(objectIn(node, 'metadata', 'labels')).flatMap(([label, value]) => {
    if (label.startsWith(rolePrefix)) return [label.slice(rolePrefix.length)];
    return label === 'kubernetes.io/role' && value !== '' ? [String(value)] : [];
  });
  return roles.length === 0 ? none : roles.sort().join(',');
}

function addressOf(node: JsonObject, type: string): string {
  const addresses = objectsIn(objectIn(node, 'status'), 'addresses');
  const found = addresses.find((address) => address.type === type);
  return found === undefined ? none : stringIn(found, 'address');
}

export function eventRow(event: JsonObject, nowMs: number): PrintedRow {
  const object = objectIn(event, 'involvedObject');
  const kind = stringIn(object, 'kind').toLowerCase();
  const first = timeSince(event.firstTimestamp ?? event.eventTime, nowMs);
  const series = event.series === undefined ? undefined : objectIn(event, 'series');
  const last =
    series !== undefined
      ? timeSince(series.lastObservedTime, nowMs)
      : event.lastTimestamp
        ? timeSince(event.lastTimestamp, nowMs)
        : first;
  const source = objectIn(event, 'source');
  const reporter = stringIn(source, 'component') || stringIn(event, 'reportingComponent');
  const instance = stringIn(source, 'host') || stringIn(event, 'reportingInstance');
  return {
    cells: [
      last,
      stringIn(event, 'type'),
      stringIn(event, 'reason'),
      object.name === undefined ? kind : `${kind}/${stringIn(object, 'name')}`,
      stringIn(object, 'fieldPath'),
      instance === '' ? reporter : `${reporter}, ${instance}`,
      stringIn(event, 'message').trim(),
      first,
      series === undefined ? countIn(event, 'count') || 1 : countIn(series, 'count'),
      nameOf(event),
    ],
  };
}

/** An Event of `events.k8s.io`. */
export function newEventRow(event: JsonObject, nowMs: number): PrintedRow {
  const { regarding, note, deprecatedSource, deprecatedFirstTimestamp } = event;
  const { deprecatedLastTimestamp, deprecatedCount, reportingController } = event;
  const core = {
    ...event,
    involvedObject: regarding,
    message: note,
    source: deprecatedSource,
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    count: deprecatedCount,
    reportingComponent: reportingController,
  };
  return eventRow(core, nowMs);
}

export function autoscalerRow(autoscaler: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(autoscaler, 'spec'), objectIn(autoscaler, 'status')];
  const target = objectIn(spec, 'scaleTargetRef');
  return {
    cells: [
      nameOf(autoscaler),
      `${stringIn(target, 'kind')}/${stringIn(target, 'name')}`,
      metricsText(autoscaler),
      spec.minReplicas === undefined ? '<unset>' : String(spec.minReplicas),
      countIn(spec, 'maxReplicas'),
      countIn(status, 'currentReplicas'),
      ageOf(autoscaler, nowMs),
    ],
  };
}

const sources: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
};

function metricsText(autoscaler: JsonObject): string {
  const metrics = objectsIn(objectIn(autoscaler, 'spec'), 'metrics');
  const current = objectsIn(objectIn(autoscaler, 'status'), 'currentMetrics');
  if (metrics.length === 0) return none;
  const texts = metrics.map((metric, index) => metricText(metric, current[index] ?? {}));
  return shortened(texts, { limit: 2, separator: ', ' });
}

function metricText(metric: JsonObject, current: JsonObject): string {
  const source = sources[stringIn(metric, 'type')];
  if (source === undefined) return '<unknown type>';
  const target = objectIn(metric, source, 'target');
  const found = objectIn(current, source, 'current');
  const isResource = source === 'resource' || source === 'containerResource';
  const name = isResource ? `${stringIn(objectIn(metric, source), 'name')}: ` : '';
  if (target.averageValue !== undefined) {
    const mark = source === 'external' || source === 'object' ? ' (avg)' : '';
    return `${name}${found.averageValue ?? '<unknown>'}/${target.averageValue}${mark}`;
  }
  if (!isResource) return `${found.value ?? '<unknown>'}/${target.value ?? ''}`;
  const percent = (value: unknown, otherwise: string) =>
    value === undefined ? otherwise : `${value}%`;
  return `${name}${percent(found.averageUtilization, '<unknown>')}/${percent(target.averageUtilization, '<auto>')}`;
}
