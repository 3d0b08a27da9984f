import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/index.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { admitPod, withRequests } from './pod-admission.ts';
import { withDefaults, withPodSpecDefaults, withTemplateDefaults } from './pod-defaults.ts';
import { resourceNames } from './resource-names.ts';

const scale = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  labelSelector: undefined,
};

/** What a node would be asked for before a pod is gone. */
const podGraceSeconds = 30;

export const podRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'Pod',
    plural: 'pods',
    namespaced: true,
    shortNames: ['po'],
    categories: ['all'],
  }),
  hasStatus: true,
  hasGeneration: true,
  selectableFields: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'status.phase',
    'status.podIP',
  ],
  fillDefaults: (pod) =>
    withSpec(pod, (spec) =>
      withDefaults(withRequests(withPodSpecDefaults(spec)), { enableServiceLinks: true }),
    ),
  prepareCreate: admitPod,
  validate: (pod) => podSpecErrors(objectField(pod, 'spec') ?? {}, 'spec'),
  validateUpdate: podUpdateErrors,
  gracePeriodSeconds(pod) {
    const spec = objectField(pod, 'spec') ?? {};
    // A pod that no node has taken is gone at once.
    if (stringField(spec, 'nodeName') === undefined) return 0;
    const grace = spec.terminationGracePeriodSeconds;
    return typeof grace === 'number' ? grace : podGraceSeconds;
  },
};

export const replicaSetRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    plural: 'replicasets',
    namespaced: true,
    shortNames: ['rs'],
    categories: ['all'],
  }),
  hasStatus: true,
  hasGeneration: true,
  scale,
  fillDefaults: (set) =>
    withSpec(set, (spec) => withDefaults({ ...spec, ...templateOf(spec) }, { replicas: 1 })),
  validate: (set) => workloadErrors(set, ['Always']),
  validateUpdate: selectorIsImmutable,
};

export const deploymentRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    plural: 'deployments',
    namespaced: true,
    shortNames: ['deploy'],
    categories: ['all'],
  }),
  hasStatus: true,
  hasGeneration: true,
  scale,
  fillDefaults: (deployment) =>
    withSpec(deployment, (spec) =>
      withDefaults(
        { ...spec, ...templateOf(spec), strategy: strategyOf(spec) },
        { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
      ),
    ),
  validate: (deployment) => workloadErrors(deployment, ['Always']),
  validateUpdate: selectorIsImmutable,
};

export const jobRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'batch/v1',
    kind: 'Job',
    plural: 'jobs',
    namespaced: true,
    categories: ['all'],
  }),
  hasStatus: true,
  hasGeneration: true,
  selectableFields: ['status.successful'],
  fillDefaults: (job) => withTemplateLabels(withSpec(job, withJobDefaults)),
  prepareCreate: withJobSelector,
  validate(job) {
    const spec = objectField(job, 'spec') ?? {};
    const template = objectField(spec, 'template') ?? {};
    return templateErrors(template, ['OnFailure', 'Never']);
  },
  validateUpdate: selectorIsImmutable,
};

function withSpec(object: JsonObject, change: (spec: JsonObject) => JsonObject): JsonObject {
  return { ...object, spec: change(objectField(object, 'spec') ?? {}) };
}

function templateOf(spec: JsonObject): JsonObject {
  return { template: withTemplateDefaults(objectField(spec, 'template')) };
}

function strategyOf(spec: JsonObject): JsonObject {
  const strategy = withDefaults(objectField(spec, 'strategy') ?? {}, { type: 'RollingUpdate' });
  if (strategy.type !== 'RollingUpdate') return strategy;
  const rolling = objectField(strategy, 'rollingUpdate') ?? {};
  const rollingUpdate = withDefaults(rolling, { maxUnavailable: '25%', maxSurge: '25%' });
  return { ...strategy, rollingUpdate };
}

function withJobDefaults(spec: JsonObject): JsonObject {
  const { completions, parallelism } = spec;
  const counts =
    completions === undefined && parallelism === undefined
      ? { completions: 1, parallelism: 1 }
      : { parallelism: 1 };
  return withDefaults(
    { ...spec, ...templateOf(spec) },
    {
      ...counts,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: 'TerminatingOrFailed',
    },
  );
}

/** A Job without labels has those of its pods. */
function withTemplateLabels(job: JsonObject): JsonObject {
  const metadata = objectField(job, 'metadata') ?? {};
  const template = objectField(objectField(job, 'spec') ?? {}, 'template') ?? {};
  const labels = objectField(objectField(template, 'metadata') ?? {}, 'labels');
  if (labels === undefined || metadata.labels !== undefined) return job;
  return { ...job, metadata: { ...metadata, labels } };
}

/** A Job selects its pods by its own uid, unless its author does it. */
function withJobSelector(job: JsonObject): JsonObject {
  const spec = objectField(job, 'spec') ?? {};
  if (spec.manualSelector === true) return job;
  const metadata = objectField(job, 'metadata') ?? {};
  const uid = stringField(metadata, 'uid') ?? '';
  const name = stringField(metadata, 'name') ?? '';
  const template = objectField(spec, 'template') ?? {};
  const templateMetadata = objectField(template, 'metadata') ?? {};
  const labels = {
    ...objectField(templateMetadata, 'labels'),
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const selector = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
  const labelled = { ...template, metadata: { ...templateMetadata, labels } };
  return { ...job, spec: { ...spec, selector, template: labelled } };
}

function workloadErrors(
  object: JsonObject,
  restartPolicies: readonly string[],
): readonly FieldError[] {
  const spec = objectField(object, 'spec') ?? {};
  const template = objectField(spec, 'template') ?? {};
  return [...selectorErrors(spec, template), ...templateErrors(template, restartPolicies)];
}

function selectorErrors(spec: JsonObject, template: JsonObject): readonly FieldError[] {
  const selector = objectField(spec, 'selector');
  const labels = objectField(objectField(template, 'metadata') ?? {}, 'labels') ?? {};
  const mismatch = invalidField(
    'spec.template.metadata.labels',
    labels,
    '`selector` does not match template `labels`',
  );
  if (selector === undefined) return [requiredField('spec.selector'), mismatch];
  const matchLabels = objectField(selector, 'matchLabels') ?? {};
  if (Object.keys(selector).length === 0) {
    const detail = 'empty selector is invalid for deployment';
    return [invalidField('spec.selector', selector, detail)];
  }
  const isMet = Object.entries(matchLabels).every(([name, value]) => labels[name] === value);
  return isMet ? [] : [mismatch];
}

function templateErrors(
  template: JsonObject,
  restartPolicies: readonly string[],
): readonly FieldError[] {
  const spec = objectField(template, 'spec') ?? {};
  const policy = stringField(spec, 'restartPolicy') ?? '';
  const errors = podSpecErrors(spec, 'spec.template.spec');
  if (restartPolicies.includes(policy)) return errors;
  const field = 'spec.template.spec.restartPolicy';
  // What was not said was filled in.
  if (policy === 'Always')
    return [...errors, requiredField(field, 'valid values: "OnFailure", "Never"')];
  return [...errors, unsupportedValue(field, policy, restartPolicies)];
}

function podSpecErrors(spec: JsonObject, path: string): readonly FieldError[] {
  const containers = listField(spec, 'containers').filter(isJsonObject);
  if (containers.length === 0) return [requiredField(`${path}.containers`)];
  return containers.flatMap((container, index) => {
    const at = `${path}.containers[${index}]`;
    const missing = ['name', 'image'].filter((name) => !stringField(container, name));
    return missing.map((name) => requiredField(`${at}.${name}`));
  });
}

function selectorIsImmutable(object: JsonObject, before: JsonObject): readonly FieldError[] {
  const selector = objectField(objectField(object, 'spec') ?? {}, 'selector') ?? {};
  const old = objectField(objectField(before, 'spec') ?? {}, 'selector') ?? {};
  if (deepEqual(selector, old)) return [];
  return [invalidField('spec.selector', selector, 'field is immutable')];
}

/** Of a pod that runs only its images may change (and few more fields, which are not modelled). */
function podUpdateErrors(pod: JsonObject, before: JsonObject): readonly FieldError[] {
  const shape = (object: JsonObject) => {
    const spec = objectField(object, 'spec') ?? {};
    const { nodeName: _, tolerations: __, activeDeadlineSeconds: ___, ...rest } = spec;
    const containers = listField(spec, 'containers').map((container) =>
      isJsonObject(container) ? { ...container, image: '' } : container,
    );
    return { ...rest, containers };
  };
  if (deepEqual(shape(pod), shape(before))) return [];
  const detail =
    'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  return [forbiddenField('spec', detail)];
}
