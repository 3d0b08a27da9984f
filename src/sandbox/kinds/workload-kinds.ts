import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField, withField, withFields } from '../json-fields.ts';
import { type FieldError, forbiddenField, invalidField } from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { completionErrors, jobSelectorErrors, jobSpecErrors } from './job-rules.ts';
import { withDefaults } from './pod-defaults.ts';
import { resourceNames } from './served-kind.ts';
import { shareErrors, shareOfAllErrors, shareSize } from './share-rules.ts';
import { templateOf, withSpec, workloadErrors } from './workload-rules.ts';

const scale = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  labelSelector: undefined,
};

/** The server has the same messages for both: it validates them in one place. */
const words = {
  selector: 'deployment',
  invalidSelector: 'invalid label selector',
  deadline: 'ReplicaSet',
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
    withSpec(set, (spec) => withDefaults(withFields(spec, templateOf(spec)), { replicas: 1 })),
  validate: (set) => workloadErrors(set, words),
  immutable: { 'spec.selector': null },
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
  countedMetadata: 'annotations',
  scale,
  fillDefaults: (deployment) =>
    withSpec(deployment, (spec) =>
      withDefaults(withFields(spec, { ...templateOf(spec), strategy: strategyOf(spec) }), {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
      }),
    ),
  validate: (deployment) => [
    ...workloadErrors(deployment, words),
    ...strategyErrors(objectField(deployment, 'spec') ?? {}),
    ...deadlineErrors(objectField(deployment, 'spec') ?? {}),
  ],
  immutable: { 'spec.selector': null },
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
  validate: (job) => [...jobSpecErrors(objectField(job, 'spec') ?? {}), ...jobSelectorErrors(job)],
  immutable: {
    'spec.selector': null,
    'spec.completionMode': null,
    'spec.podFailurePolicy': null,
    'spec.backoffLimitPerIndex': null,
    'spec.managedBy': null,
    'spec.successPolicy': null,
  },
  validateUpdate: (job, before) => [
    ...templateIsImmutable(job, before),
    ...completionErrors(job, before),
  ],
};

/** Fields of the pod spec that may change while a Job is suspended. */
const mutableWhenSuspended = ['nodeSelector', 'tolerations', 'schedulingGates'];

function templateIsImmutable(job: JsonObject, before: JsonObject): readonly FieldError[] {
  const isSuspended = objectField(before, 'spec')?.suspend === true;
  const [now = {}, old] = [job, before].map((object) => {
    const template = objectField(objectField(object, 'spec') ?? {}, 'template') ?? {};
    return isSuspended ? fixedWhenSuspended(objectField(template, 'spec') ?? {}) : template;
  });
  if (deepEqual(now, old)) return [];
  const at = isSuspended ? 'spec.template.spec' : 'spec.template';
  return [invalidField(at, now, 'field is immutable')];
}

function fixedWhenSuspended(spec: JsonObject): JsonObject {
  const fixed = Object.entries(spec).filter(([name]) => !mutableWhenSuspended.includes(name));
  const { nodeAffinity: _, ...affinity } = objectField(spec, 'affinity') ?? {};
  const containers = listField(spec, 'containers')
    .filter(isJsonObject)
    .map((container) => withField(container, 'resources', undefined));
  return { ...Object.fromEntries(fixed), affinity, containers };
}

function strategyErrors(spec: JsonObject): readonly FieldError[] {
  const { type = '', rollingUpdate } = objectField(spec, 'strategy') ?? {};
  const at = 'spec.strategy.rollingUpdate';
  if (type === 'Recreate') {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    return rollingUpdate === undefined ? [] : [forbiddenField(at, detail)];
  }
  if (type === 'RollingUpdate')
    return rollingErrors(isJsonObject(rollingUpdate) ? rollingUpdate : {}, at);
  // The server prints its own struct.
  const rolling = isJsonObject(rollingUpdate)
    ? { MaxUnavailable: rollingUpdate.maxUnavailable ?? 0, MaxSurge: rollingUpdate.maxSurge ?? 0 }
    : null;
  const shown = JSON.stringify({ Type: type, RollingUpdate: rolling });
  const message = `Unsupported value: ${shown}: supported values: "Recreate", "RollingUpdate"`;
  return [{ reason: 'FieldValueNotSupported', message, field: 'spec.strategy' }];
}

function rollingErrors(rolling: JsonObject, at: string): readonly FieldError[] {
  const { maxUnavailable, maxSurge } = rolling;
  const blocksRollout = shareSize(maxUnavailable) === 0 && shareSize(maxSurge) === 0;
  const detail = 'may not be 0 when `maxSurge` is 0';
  return [
    ...shareErrors(maxUnavailable, `${at}.maxUnavailable`),
    ...shareErrors(maxSurge, `${at}.maxSurge`),
    ...(blocksRollout ? [invalidField(`${at}.maxUnavailable`, maxUnavailable, detail)] : []),
    ...shareOfAllErrors(maxUnavailable, `${at}.maxUnavailable`),
  ];
}

function deadlineErrors({
  progressDeadlineSeconds: deadline,
  minReadySeconds = 0,
}: JsonObject): readonly FieldError[] {
  if (typeof deadline !== 'number' || deadline > Number(minReadySeconds)) return [];
  const detail = 'must be greater than minReadySeconds';
  return [invalidField('spec.progressDeadlineSeconds', deadline, detail)];
}

function strategyOf(spec: JsonObject): JsonObject {
  const strategy = withDefaults(objectField(spec, 'strategy') ?? {}, { type: 'RollingUpdate' });
  if (strategy.type !== 'RollingUpdate') return strategy;
  const rolling = objectField(strategy, 'rollingUpdate') ?? {};
  const rollingUpdate = withDefaults(rolling, { maxUnavailable: '25%', maxSurge: '25%' });
  return withFields(strategy, { rollingUpdate });
}

function withJobDefaults(spec: JsonObject): JsonObject {
  const { completions, parallelism } = spec;
  const counts =
    completions === undefined && parallelism === undefined
      ? { completions: 1, parallelism: 1 }
      : { parallelism: 1 };
  const policy = objectField(spec, 'podFailurePolicy');
  return withDefaults(
    {
      ...spec,
      ...templateOf(spec),
      ...(policy === undefined ? {} : { podFailurePolicy: withFailureRules(policy) }),
    },
    {
      ...counts,
      backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : 2_147_483_647,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
    },
  );
}

function withFailureRules(policy: JsonObject): JsonObject {
  if (listField(policy, 'rules').length === 0) return policy;
  const rules = listField(policy, 'rules').map((rule) => {
    const patterns = isJsonObject(rule) ? listField(rule, 'onPodConditions') : [];
    if (!isJsonObject(rule) || patterns.length === 0) return rule;
    const onPodConditions = patterns.map((pattern) =>
      isJsonObject(pattern) && !stringField(pattern, 'status')
        ? { ...pattern, status: 'True' }
        : pattern,
    );
    return { ...rule, onPodConditions };
  });
  return { ...policy, rules };
}

/** A Job without labels gets those of its template. */
function withTemplateLabels(job: JsonObject): JsonObject {
  const metadata = objectField(job, 'metadata') ?? {};
  const template = objectField(objectField(job, 'spec') ?? {}, 'template') ?? {};
  const labels = objectField(objectField(template, 'metadata') ?? {}, 'labels');
  const isLabelled = Object.keys(objectField(metadata, 'labels') ?? {}).length > 0;
  if (labels === undefined || isLabelled) return job;
  return { ...job, metadata: { ...metadata, labels } };
}

/** A Job selects its pods by its uid, unless manualSelector is set. */
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
  const own = objectField(spec, 'selector') ?? {};
  const matchLabels = {
    ...objectField(own, 'matchLabels'),
    'batch.kubernetes.io/controller-uid': uid,
  };
  const selector = { ...own, matchLabels };
  const labelled = { ...template, metadata: { ...templateMetadata, labels } };
  const defaulted = { ...job, spec: { ...spec, selector, template: labelled } };
  // On a real server, labels defaulted from the template are the same map, so the Job gets these labels, too.
  const isShared = metadata.labels !== undefined && metadata.labels === templateMetadata.labels;
  return isShared ? { ...defaulted, metadata: { ...metadata, labels } } : defaulted;
}
