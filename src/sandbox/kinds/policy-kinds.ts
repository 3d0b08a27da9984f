import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField, withField } from '../json-fields.ts';
import { forbiddenField, requiredField } from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { errorsOf, fields, isEmpty, notNegative } from './field-checks.ts';
import { withMetadata } from './generation.ts';
import { withDefaults } from './pod-defaults.ts';
import { limitRangeChecks, nodeChecks, priorityChecks, quotaChecks } from './policy-checks.ts';
import { resourceNames } from './served-kind.ts';

export const quotaRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    namespaced: true,
    shortNames: ['quota'],
  }),
  hasStatus: true,
  validate: (quota) => errorsOf(quotaChecks, quota),
};

export const limitRangeRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'LimitRange',
    plural: 'limitranges',
    namespaced: true,
    shortNames: ['limits'],
  }),
  fillDefaults(range) {
    const spec = objectField(range, 'spec') ?? {};
    const limits = listField(spec, 'limits');
    if (limits.length === 0) return range;
    return { ...range, spec: { ...spec, limits: limits.map(withContainerLimits) } };
  },
  validate: (range) => errorsOf(limitRangeChecks, range),
};

/** Defaults for containers: the limit defaults to the maximum, the request to the limit. */
function withContainerLimits(item: Json): Json {
  if (!isJsonObject(item) || item.type !== 'Container') return item;
  const part = (name: string) => objectField(item, name) ?? {};
  const limits = withDefaults(part('default'), part('max'));
  const requests = withDefaults(withDefaults(part('defaultRequest'), limits), part('min'));
  const set = (object: JsonObject, name: string, value: JsonObject) =>
    Object.keys(value).length === 0 ? object : withField(object, name, value);
  return set(set(item, 'default', limits), 'defaultRequest', requests);
}

export const priorityClassRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    namespaced: false,
    shortNames: ['pc'],
  }),
  prepareCreate: (priority) => withMetadata(priority, 'generation', 1),
  fillDefaults: (priority) => withDefaults(priority, { preemptionPolicy: 'PreemptLowerPriority' }),
  validateCreate(priority) {
    const value = Number(priority.value ?? 0);
    const name = String(objectField(priority, 'metadata')?.name ?? '');
    const limit = 1_000_000_000;
    const detail = `maximum allowed value of a user defined priority is ${limit}`;
    return [
      ...(value <= limit || name.startsWith('system-') ? [] : [forbiddenField('value', detail)]),
      ...errorsOf(priorityChecks, priority),
    ];
  },
  immutable: { preemptionPolicy: null },
  validateUpdate: ({ value }, before) =>
    value === before.value ? [] : [forbiddenField('value', 'may not be changed in an update.')],
};

export const nodeRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'Node',
    plural: 'nodes',
    namespaced: false,
    shortNames: ['no'],
  }),
  hasStatus: true,
  keepsStatus: true,
  fillDefaults(node) {
    const spec = objectField(node, 'spec') ?? {};
    const [first] = listField(spec, 'podCIDRs');
    const podCIDR = stringField(spec, 'podCIDR') || first;
    if (podCIDR === undefined) return node;
    const podCIDRs = first === podCIDR ? spec.podCIDRs : [podCIDR];
    return { ...node, spec: { ...spec, podCIDR, podCIDRs } };
  },
  prepareCreate: withNotReadyTaint,
  validate: (node) => errorsOf(nodeChecks, node),
  validateUpdate(node, before) {
    const [spec, old] = [objectField(node, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
    return [['podCIDRs', 'podCIDR'] as const, ['providerID', 'providerID'] as const].flatMap(
      ([field, name]) => {
        if (isEmpty(old[field]) || deepEqual(spec[field], old[field])) return [];
        const detail = `node updates may not change ${name} except from "" to valid`;
        return [forbiddenField(`spec.${field}`, detail)];
      },
    );
  },
  selectableFields: ['spec.unschedulable'],
};

/** A new node is tainted until it is ready. */
function withNotReadyTaint(node: JsonObject): JsonObject {
  const spec = objectField(node, 'spec') ?? {};
  const conditions = listField(objectField(node, 'status') ?? {}, 'conditions').filter(
    isJsonObject,
  );
  // No controller here would remove the taint from a node that is created with its status.
  if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return node;
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  return { ...node, spec: { ...spec, taints: [...listField(spec, 'taints'), taint] } };
}

export const controllerRevisionRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    plural: 'controllerrevisions',
    namespaced: true,
  }),
  immutable: { data: null },
  validate: (revision) => errorsOf(fields({ revision: notNegative }), revision),
  validateCreate: ({ data }) => {
    if (isJsonObject(data)) return [];
    const isNone = data === undefined || data === null;
    return [
      requiredField('data', isNone ? 'data is mandatory' : 'data must be a valid JSON object'),
    ];
  },
};
