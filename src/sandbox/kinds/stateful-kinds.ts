import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { dnsLabel } from '../metadata/name-rules.ts';
import { annotationErrors, labelErrors } from '../metadata/validate-metadata.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  invalidStruct,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { claimSpecErrors } from './claim-rules.ts';
import { type Check, errorsOf, fields, notNegative, optional } from './field-checks.ts';
import { withMetadata } from './generation.ts';
import { jobSpecErrors } from './job-rules.ts';
import { withDefaults } from './pod-defaults.ts';
import { scheduleErrors, timeZoneErrors } from './schedule-rules.ts';
import { resourceNames } from './served-kind.ts';
import { shareErrors, shareOfAllErrors, shareSize } from './share-rules.ts';
import { countErrors, templateOf, withSpec, workloadErrors } from './workload-rules.ts';

export const statefulSetRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    plural: 'statefulsets',
    namespaced: true,
    shortNames: ['sts'],
    categories: ['all'],
  }),
  hasStatus: true,
  hasGeneration: true,
  nameRule: dnsLabel,
  scale: {
    specReplicas: ['spec', 'replicas'],
    statusReplicas: ['status', 'replicas'],
    labelSelector: undefined,
  },
  fillDefaults: (set) => withSpec(set, withStatefulDefaults),
  validate: statefulErrors,
  validateCreate: claimTemplateErrors,
  validateUpdate: statefulUpdateErrors,
};

function withStatefulDefaults(spec: JsonObject): JsonObject {
  const claims = listField(spec, 'volumeClaimTemplates');
  return withDefaults(
    {
      ...spec,
      ...templateOf(spec),
      updateStrategy: statefulStrategy(objectField(spec, 'updateStrategy')),
      persistentVolumeClaimRetentionPolicy: withDefaults(
        objectField(spec, 'persistentVolumeClaimRetentionPolicy') ?? {},
        { whenDeleted: 'Retain', whenScaled: 'Retain' },
      ),
      ...(claims.length === 0 ? {} : { volumeClaimTemplates: claims.map(withClaimDefaults) }),
    },
    { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 },
  );
}

function statefulStrategy(given: JsonObject | undefined): JsonObject {
  const isUnset = !stringField(given ?? {}, 'type');
  const strategy = withDefaults(given ?? {}, { type: 'RollingUpdate' });
  const rolling = objectField(strategy, 'rollingUpdate') ?? (isUnset ? {} : undefined);
  if (strategy.type !== 'RollingUpdate' || rolling === undefined) return strategy;
  return { ...strategy, rollingUpdate: withDefaults(rolling, { partition: 0 }) };
}

function withClaimDefaults(claim: Json): Json {
  if (!isJsonObject(claim)) return claim;
  return {
    ...claim,
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    spec: withDefaults(objectField(claim, 'spec') ?? {}, { volumeMode: 'Filesystem' }),
    status: withDefaults(objectField(claim, 'status') ?? {}, { phase: 'Pending' }),
  };
}

const words = {
  selector: 'statefulset',
  invalidSelector: '',
  deadline: 'StatefulSet',
  counts: ['replicas', 'minReadySeconds'],
};

const retentions = ['Retain', 'Delete'];

/** The server prints its own struct. */
const statefulStrategyType: Check = ({ value, at }) => {
  const { type = '', rollingUpdate } = isJsonObject(value) ? value : {};
  if (type === '') return [requiredField(at)];
  if (type === 'RollingUpdate' || (type === 'OnDelete' && rollingUpdate === undefined)) return [];
  const { partition = 0, maxUnavailable = null } = isJsonObject(rollingUpdate) ? rollingUpdate : {};
  const rolling = isJsonObject(rollingUpdate)
    ? { Partition: partition, MaxUnavailable: maxUnavailable }
    : null;
  if (type === 'OnDelete') {
    const only = "only allowed for updateStrategy 'RollingUpdate'";
    return [invalidStruct(`${at}.rollingUpdate`, rolling, only)];
  }
  const detail = "must be 'RollingUpdate' or 'OnDelete'";
  return [invalidStruct(at, { Type: type, RollingUpdate: rolling }, detail)];
};

const statefulChecks = fields({
  updateStrategy: statefulStrategyType,
  'ordinals.start': notNegative,
  'updateStrategy.rollingUpdate.maxUnavailable': optional(({ value, at }) => [
    ...shareErrors(value, at),
    ...(shareSize(value) === 0 ? [invalidField(at, value, 'cannot be 0')] : []),
    ...shareOfAllErrors(value, at),
  ]),
});

/** The server validates the labels of the template twice. */
function templateLabelErrors(template: JsonObject): readonly FieldError[] {
  const { labels, annotations } = objectField(template, 'metadata') ?? {};
  return [
    ...labelErrors(isJsonObject(labels) ? labels : {}, 'spec.template.labels'),
    ...annotationErrors(isJsonObject(annotations) ? annotations : {}, 'spec.template.annotations'),
  ];
}

/** Each claim template is a volume of the pod, which replaces a volume of the same name. */
function statefulErrors(set: JsonObject): readonly FieldError[] {
  const spec = objectField(set, 'spec') ?? {};
  const claims = listField(spec, 'volumeClaimTemplates').filter(isJsonObject);
  const names = claims.map((claim) => objectField(claim, 'metadata')?.name ?? '');
  const template = objectField(spec, 'template') ?? {};
  // The controller sets the names of pods.
  const { hostname: _, subdomain: __, ...podSpec } = objectField(template, 'spec') ?? {};
  const others = listField(podSpec, 'volumes').filter(
    (volume) => isJsonObject(volume) && !names.includes(volume.name ?? ''),
  );
  const claimed = [...new Set(names)].map((name) => ({
    name,
    persistentVolumeClaim: { claimName: name },
  }));
  const volumes = [...claimed, ...others];
  const whole = { ...template, spec: { ...podSpec, volumes } };
  return [
    ...managementErrors(spec),
    ...errorsOf(statefulChecks, spec, 'spec'),
    ...serviceNameErrors(stringField(spec, 'serviceName') ?? ''),
    ...workloadErrors({ ...set, spec: { ...spec, template: whole } }, words),
    ...templateLabelErrors(template),
  ];
}

/** No update changes the templates of claims. */
function claimTemplateErrors(set: JsonObject): readonly FieldError[] {
  const claims = listField(objectField(set, 'spec') ?? {}, 'volumeClaimTemplates');
  return claims
    .filter(isJsonObject)
    .flatMap((claim, index) =>
      claimSpecErrors(objectField(claim, 'spec') ?? {}, `spec.volumeClaimTemplates[${index}].spec`),
    );
}

function managementErrors(spec: JsonObject): readonly FieldError[] {
  const order = stringField(spec, 'podManagementPolicy') ?? '';
  const detail = "must be 'OrderedReady' or 'Parallel'";
  const { partition = 0 } =
    objectField(objectField(spec, 'updateStrategy') ?? {}, 'rollingUpdate') ?? {};
  const retention = objectField(spec, 'persistentVolumeClaimRetentionPolicy') ?? {};
  return [
    ...(order === 'OrderedReady' || order === 'Parallel'
      ? []
      : [invalidField('spec.podManagementPolicy', order, detail)]),
    ...(Number(partition) < 0
      ? [
          invalidField(
            'spec.updateStrategy.rollingUpdate.partition',
            partition,
            'must be greater than or equal to 0',
          ),
        ]
      : []),
    ...['whenDeleted', 'whenScaled']
      .filter((name) => !retentions.includes(String(retention[name])))
      .map((name) =>
        unsupportedValue(
          `spec.persistentVolumeClaimRetentionPolicy.${name}`,
          retention[name],
          retentions,
        ),
      ),
  ];
}

function serviceNameErrors(name: string): readonly FieldError[] {
  if (name === '') return [];
  return dnsLabel(name).map((message) => invalidField('spec.serviceName', name, message));
}

const changeable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

function statefulUpdateErrors(set: JsonObject, before: JsonObject): readonly FieldError[] {
  const fixed = (object: JsonObject) =>
    Object.fromEntries(
      Object.entries(objectField(object, 'spec') ?? {}).filter(
        ([name]) => !changeable.includes(name),
      ),
    );
  if (deepEqual(fixed(set), fixed(before))) return [];
  const detail =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [forbiddenField('spec', detail)];
}

const daemonWords = { selector: 'daemonset', isSelectorOptional: true, deadline: 'DaemonSet' };

/** Exactly one of the two limits of a rollout is set. */
const rollingDaemons: Check = ({ value, at, owner }) => {
  const { maxUnavailable, maxSurge } = isJsonObject(value) ? value : {};
  if (owner.type !== 'RollingUpdate') return [];
  const both = 'may not be set when maxUnavailable is non-zero';
  const [unavailable, surge] = [shareSize(maxUnavailable), shareSize(maxSurge)];
  return [
    ...shareErrors(maxUnavailable, `${at}.maxUnavailable`),
    ...shareErrors(maxSurge, `${at}.maxSurge`),
    ...shareOfAllErrors(maxUnavailable, `${at}.maxUnavailable`),
    ...shareOfAllErrors(maxSurge, `${at}.maxSurge`),
    ...(unavailable !== 0 && surge !== 0 ? [invalidField(`${at}.maxSurge`, maxSurge, both)] : []),
    ...(unavailable === 0 && surge === 0
      ? [requiredField(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]
      : []),
  ];
};

/** The server prints its own struct. */
const daemonStrategy: Check = ({ value, at }) => {
  const { type = '', rollingUpdate } = isJsonObject(value) ? value : {};
  if (type === 'RollingUpdate' || type === 'OnDelete') return [];
  const { maxUnavailable = 0, maxSurge = 0 } = isJsonObject(rollingUpdate) ? rollingUpdate : {};
  const rolling = isJsonObject(rollingUpdate)
    ? { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge }
    : null;
  const shown = JSON.stringify({ Type: type, RollingUpdate: rolling });
  const message = `Unsupported value: ${shown}: supported values: "RollingUpdate", "OnDelete"`;
  return [{ reason: 'FieldValueNotSupported', message, field: at }];
};

const daemonChecks = fields({
  'spec.updateStrategy': daemonStrategy,
  'spec.updateStrategy.rollingUpdate': rollingDaemons,
});

export const daemonSetRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    plural: 'daemonsets',
    namespaced: true,
    shortNames: ['ds'],
    categories: ['all'],
  }),
  hasStatus: true,
  hasGeneration: true,
  prepareCreate: (set) => withTemplateGeneration(set, 1),
  prepareUpdate(set, before) {
    const [template, old] = [set, before].map(
      (object) => objectField(objectField(object, 'spec') ?? {}, 'template') ?? {},
    );
    const generation = templateGeneration(before);
    return withTemplateGeneration(set, deepEqual(template, old) ? generation : generation + 1);
  },
  fillDefaults: (set) =>
    withSpec(withTemplateGeneration(set, templateGeneration(set)), (spec) => {
      const strategy = withDefaults(objectField(spec, 'updateStrategy') ?? {}, {
        type: 'RollingUpdate',
      });
      const rolling = objectField(strategy, 'rollingUpdate') ?? {};
      const updateStrategy =
        strategy.type === 'RollingUpdate'
          ? {
              ...strategy,
              rollingUpdate: withDefaults(rolling, { maxUnavailable: 1, maxSurge: 0 }),
            }
          : strategy;
      return withDefaults(
        { ...spec, ...templateOf(spec), updateStrategy },
        { revisionHistoryLimit: 10 },
      );
    }),
  validate: (set) => [...workloadErrors(set, daemonWords), ...errorsOf(daemonChecks, set)],
  immutable: { 'spec.selector': null },
};

const templateGenerationAnnotation = 'deprecated.daemonset.template.generation';

function templateGeneration(set: JsonObject): number {
  const metadata = objectField(set, 'metadata') ?? {};
  return Number(objectField(metadata, 'annotations')?.[templateGenerationAnnotation] ?? 0);
}

function withTemplateGeneration(set: JsonObject, generation: number): JsonObject {
  const annotations = objectField(objectField(set, 'metadata') ?? {}, 'annotations') ?? {};
  const counted = { ...annotations, [templateGenerationAnnotation]: String(generation) };
  return withMetadata(set, 'annotations', counted);
}

export const cronJobRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    plural: 'cronjobs',
    namespaced: true,
    shortNames: ['cj'],
    categories: ['all'],
  }),
  hasStatus: true,
  hasGeneration: true,
  fillDefaults: (job) =>
    withSpec(job, (spec) => {
      const template = objectField(spec, 'jobTemplate') ?? {};
      const jobTemplate = { ...template, spec: cronJobSpec(objectField(template, 'spec') ?? {}) };
      return withDefaults(
        { ...spec, jobTemplate },
        {
          concurrencyPolicy: 'Allow',
          suspend: false,
          successfulJobsHistoryLimit: 3,
          failedJobsHistoryLimit: 1,
        },
      );
    }),
  validate: (job) => cronJobErrors(objectField(job, 'spec') ?? {}),
  validateCreate: cronJobNameErrors,
};

/** The names of its Jobs have eleven characters more. */
const maxCronJobName = 52;

function cronJobNameErrors(job: JsonObject): readonly FieldError[] {
  const name = stringField(objectField(job, 'metadata') ?? {}, 'name') ?? '';
  if (name.length <= maxCronJobName) return [];
  return [invalidField('metadata.name', name, `must be no more than ${maxCronJobName} characters`)];
}

const concurrencyPolicies = ['Allow', 'Forbid', 'Replace'];

function cronJobErrors(spec: JsonObject): readonly FieldError[] {
  const jobSpec = objectField(objectField(spec, 'jobTemplate') ?? {}, 'spec') ?? {};
  const policy = stringField(spec, 'concurrencyPolicy') ?? '';
  const zone = stringField(spec, 'timeZone');
  return [
    ...scheduleErrors(stringField(spec, 'schedule') ?? '', 'spec.schedule'),
    ...countErrors(spec, ['startingDeadlineSeconds']),
    ...(zone === undefined ? [] : timeZoneErrors(zone, 'spec.timeZone')),
    ...(concurrencyPolicies.includes(policy)
      ? []
      : [unsupportedValue('spec.concurrencyPolicy', policy, concurrencyPolicies)]),
    ...jobSpecErrors(jobSpec).map((error) => ({
      ...error,
      field: error.field.replace(/^spec/, 'spec.jobTemplate.spec'),
    })),
    ...countErrors(spec, ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit']),
  ];
}

/** The Job spec gets its defaults when the CronJob creates a Job; the pod template gets them now. */
function cronJobSpec(spec: JsonObject): JsonObject {
  return { ...spec, ...templateOf(spec) };
}
