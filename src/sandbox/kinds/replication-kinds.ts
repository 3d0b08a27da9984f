import type { JsonObject } from '#util/json.ts';
import { objectField, withFields } from '../json-fields.ts';
import { dnsSubdomain } from '../metadata/name-rules.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { withMetadata } from './generation.ts';
import { withDefaults, withTemplateDefaults } from './pod-defaults.ts';
import { templateContentErrors } from './pod-spec-rules.ts';
import { resourceNames } from './served-kind.ts';
import { countErrors, withSpec } from './workload-rules.ts';

/** The predecessor of ReplicaSets. Its selector is a map of labels; defaults to the labels of the template. */
export const replicationControllerRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    namespaced: true,
    shortNames: ['rc'],
    categories: ['all'],
  }),
  hasStatus: true,
  hasGeneration: true,
  // Validated with rules from the types, whose messages count bytes.
  nameRule: (name) => dnsSubdomain(name).map((message) => message.replace(/characters$/, 'bytes')),
  selectableFields: ['status.replicas'],
  scale: {
    specReplicas: ['spec', 'replicas'],
    statusReplicas: ['status', 'replicas'],
    labelSelector: undefined,
    selectsByLabels: true,
  },
  orphansByDefault: true,
  fillDefaults: withControllerDefaults,
  prepareCreate: withoutCounts,
  validate: controllerErrors,
};

function labelsOf(template: JsonObject): JsonObject {
  return objectField(objectField(template, 'metadata') ?? {}, 'labels') ?? {};
}

function withControllerDefaults(controller: JsonObject): JsonObject {
  const metadata = objectField(controller, 'metadata') ?? {};
  const spec = objectField(controller, 'spec') ?? {};
  const template = objectField(spec, 'template');
  const labels = labelsOf(template ?? {});
  const isLabelled = Object.keys(labels).length > 0;
  const isEmpty = (map: JsonObject | undefined) => Object.keys(map ?? {}).length === 0;
  const filled = withSpec(controller, () => ({
    ...withDefaults(spec, { replicas: 1 }),
    ...(template === undefined ? {} : { template: withTemplateDefaults(template) }),
    ...(isLabelled && isEmpty(objectField(spec, 'selector')) ? { selector: labels } : {}),
  }));
  return isLabelled && isEmpty(objectField(metadata, 'labels'))
    ? withMetadata(filled, 'labels', labels)
    : filled;
}

/** The number of pods is always written. */
function withoutCounts(controller: JsonObject): JsonObject {
  return withFields(controller, { status: { replicas: 0 } });
}

function controllerErrors(controller: JsonObject): readonly FieldError[] {
  const spec = objectField(controller, 'spec') ?? {};
  const selector = Object.entries(objectField(spec, 'selector') ?? {});
  const template = objectField(spec, 'template');
  return [
    ...countErrors(spec, ['minReadySeconds']),
    ...(selector.length === 0 ? [requiredField('spec.selector')] : []),
    ...countErrors(spec, ['replicas']),
    ...(template === undefined
      ? [requiredField('spec.template')]
      : controllerTemplateErrors(template, selector)),
  ];
}

function controllerTemplateErrors(
  template: JsonObject,
  selector: readonly (readonly [name: string, value: unknown])[],
): readonly FieldError[] {
  const labels = objectField(objectField(template, 'metadata') ?? {}, 'labels');
  const spec = objectField(template, 'spec') ?? {};
  const isMet = selector.every(([name, value]) => labels?.[name] === value);
  const at = 'spec.template';
  const mismatch = '`selector` does not match template `labels`';
  const deadline = 'activeDeadlineSeconds in ReplicationController is not Supported';
  return [
    ...(isMet ? [] : [invalidField(`${at}.metadata.labels`, labels, mismatch)]),
    ...templateContentErrors(template, at),
    ...(spec.restartPolicy === 'Always'
      ? []
      : [unsupportedValue(`${at}.spec.restartPolicy`, spec.restartPolicy, ['Always'])]),
    ...(spec.activeDeadlineSeconds === undefined
      ? []
      : [forbiddenField(`${at}.spec.activeDeadlineSeconds`, deadline)]),
  ];
}

export const podTemplateRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'PodTemplate',
    plural: 'podtemplates',
    namespaced: true,
  }),
  hasGeneration: true,
  fillDefaults: (object) =>
    withFields(object, { template: withTemplateDefaults(objectField(object, 'template')) }),
  validate: (object) => templateContentErrors(objectField(object, 'template') ?? {}, 'template'),
};
