import type { JsonObject } from '../../util/json.ts';
import {
  ageOf,
  conditionOf,
  countIn,
  nameOf,
  none,
  objectsIn,
  type PrintedRow,
  part,
  shortened,
  since,
  textIn,
} from './cell-values.ts';

export function configMapRow(map: JsonObject, nowMs: number): PrintedRow {
  const keys = [...Object.keys(part(map, 'data')), ...Object.keys(part(map, 'binaryData'))];
  return { cells: [nameOf(map), keys.length, ageOf(map, nowMs)] };
}

export function secretRow(secret: JsonObject, nowMs: number): PrintedRow {
  const keys = Object.keys(part(secret, 'data'));
  return { cells: [nameOf(secret), textIn(secret, 'type'), keys.length, ageOf(secret, nowMs)] };
}

export function namespaceRow(namespace: JsonObject, nowMs: number): PrintedRow {
  const phase = textIn(part(namespace, 'status'), 'phase');
  return { cells: [nameOf(namespace), phase, ageOf(namespace, nowMs)] };
}

/** A kind that shows nothing but its age. */
export function ageRow(object: JsonObject, nowMs: number): PrintedRow {
  return { cells: [nameOf(object), ageOf(object, nowMs)] };
}

/** A kind without columns of its own shows when its objects were made. */
export function creationRow(object: JsonObject): PrintedRow {
  return { cells: [nameOf(object), part(object, 'metadata').creationTimestamp ?? null] };
}

export function leaseRow(lease: JsonObject, nowMs: number): PrintedRow {
  const holder = textIn(part(lease, 'spec'), 'holderIdentity');
  return { cells: [nameOf(lease), holder, ageOf(lease, nowMs)] };
}

export function priorityClassRow(priority: JsonObject, nowMs: number): PrintedRow {
  return {
    cells: [
      nameOf(priority),
      countIn(priority, 'value'),
      priority.globalDefault === true,
      ageOf(priority, nowMs),
      textIn(priority, 'preemptionPolicy'),
    ],
  };
}

export function bindingRow(binding: JsonObject, nowMs: number): PrintedRow {
  const role = part(binding, 'roleRef');
  const subjects = objectsIn(binding, 'subjects');
  const named = (kind: string, text: (subject: JsonObject) => string) =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(text)
      .join(', ');
  const name = (subject: JsonObject) => textIn(subject, 'name');
  return {
    cells: [
      nameOf(binding),
      `${textIn(role, 'kind')}/${textIn(role, 'name')}`,
      ageOf(binding, nowMs),
      named('User', name),
      named('Group', name),
      named('ServiceAccount', (subject) => `${textIn(subject, 'namespace')}/${name(subject)}`),
    ],
  };
}

export function quotaRow(quota: JsonObject, nowMs: number): PrintedRow {
  const [hard, used] = [part(quota, 'status', 'hard'), part(quota, 'status', 'used')];
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
  const info = part(node, 'status', 'nodeInfo');
  const ready = conditionOf(node, 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  const isClosed = part(node, 'spec').unschedulable === true;
  const architecture = textIn(info, 'architecture');
  const kernel = textIn(info, 'kernelVersion') || '<unknown>';
  return {
    cells: [
      nameOf(node),
      isClosed ? `${state},SchedulingDisabled` : state,
      rolesText(node),
      ageOf(node, nowMs),
      textIn(info, 'kubeletVersion'),
      addressOf(node, 'InternalIP'),
      addressOf(node, 'ExternalIP'),
      textIn(info, 'osImage') || '<unknown>',
      architecture === '' ? kernel : `${kernel} (${architecture})`,
      textIn(info, 'containerRuntimeVersion') || '<unknown>',
    ],
  };
}

const rolePrefix = 'node-role.kubernetes.io/';

function rolesText(node: JsonObject): string {
  const roles = Object.entries(part(node, 'metadata', 'labels')).flatMap(([label, value]) => {
    if (label.startsWith(rolePrefix)) return [label.slice(rolePrefix.length)];
    return label === 'kubernetes.io/role' && value !== '' ? [String(value)] : [];
  });
  return roles.length === 0 ? none : roles.sort().join(',');
}

function addressOf(node: JsonObject, type: string): string {
  const addresses = objectsIn(part(node, 'status'), 'addresses');
  const found = addresses.find((address) => address.type === type);
  return found === undefined ? none : textIn(found, 'address');
}

export function eventRow(event: JsonObject, nowMs: number): PrintedRow {
  const object = part(event, 'involvedObject');
  const kind = textIn(object, 'kind').toLowerCase();
  const first = since(event.firstTimestamp ?? event.eventTime, nowMs);
  const series = event.series === undefined ? undefined : part(event, 'series');
  const last =
    series !== undefined
      ? since(series.lastObservedTime, nowMs)
      : event.lastTimestamp
        ? since(event.lastTimestamp, nowMs)
        : first;
  const source = part(event, 'source');
  const reporter = textIn(source, 'component') || textIn(event, 'reportingComponent');
  const instance = textIn(source, 'host') || textIn(event, 'reportingInstance');
  return {
    cells: [
      last,
      textIn(event, 'type'),
      textIn(event, 'reason'),
      object.name === undefined ? kind : `${kind}/${textIn(object, 'name')}`,
      textIn(object, 'fieldPath'),
      instance === '' ? reporter : `${reporter}, ${instance}`,
      textIn(event, 'message').trim(),
      first,
      series === undefined ? countIn(event, 'count') || 1 : countIn(series, 'count'),
      nameOf(event),
    ],
  };
}

/** An Event in its new form. */
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
  const [spec, status] = [part(autoscaler, 'spec'), part(autoscaler, 'status')];
  const target = part(spec, 'scaleTargetRef');
  return {
    cells: [
      nameOf(autoscaler),
      `${textIn(target, 'kind')}/${textIn(target, 'name')}`,
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
  const metrics = objectsIn(part(autoscaler, 'spec'), 'metrics');
  const current = objectsIn(part(autoscaler, 'status'), 'currentMetrics');
  if (metrics.length === 0) return none;
  const texts = metrics.map((metric, index) => metricText(metric, current[index] ?? {}));
  return shortened(texts, { limit: 2, separator: ', ' });
}

function metricText(metric: JsonObject, current: JsonObject): string {
  const source = sources[textIn(metric, 'type')];
  if (source === undefined) return '<unknown type>';
  const target = part(metric, source, 'target');
  const found = part(current, source, 'current');
  const isResource = source === 'resource' || source === 'containerResource';
  const name = isResource ? `${textIn(part(metric, source), 'name')}: ` : '';
  if (target.averageValue !== undefined) {
    const mark = source === 'external' || source === 'object' ? ' (avg)' : '';
    return `${name}${found.averageValue ?? '<unknown>'}/${target.averageValue}${mark}`;
  }
  if (!isResource) return `${found.value ?? '<unknown>'}/${target.value ?? ''}`;
  const percent = (value: unknown, otherwise: string) =>
    value === undefined ? otherwise : `${value}%`;
  return `${name}${percent(found.averageUtilization, '<unknown>')}/${percent(target.averageUtilization, '<auto>')}`;
}
