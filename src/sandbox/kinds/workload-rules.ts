import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { fieldOf, listField, objectField, stringField, withFields } from '../json-fields.ts';
import {
  duplicateField,
  type FieldError,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/index.ts';
import { withTemplateDefaults } from './pod-defaults.ts';

/** An object with another spec. */
export function withSpec(object: JsonObject, change: (spec: JsonObject) => JsonObject): JsonObject {
  return withFields(object, { spec: change(objectField(object, 'spec') ?? {}) });
}

/** The template of a spec, completed. */
export function templateOf(spec: JsonObject): JsonObject {
  return { template: withTemplateDefaults(objectField(spec, 'template')) };
}

const counts = ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'];

/** What a kind with a selector and a template of pods is refused for. */
export function workloadErrors(
  object: JsonObject,
  restartPolicies: readonly string[],
): readonly FieldError[] {
  const spec = objectField(object, 'spec') ?? {};
  const template = objectField(spec, 'template') ?? {};
  return [
    ...countErrors(spec, counts),
    ...selectorErrors(spec, template),
    ...templateErrors(template, restartPolicies),
  ];
}

/** Numbers of a spec that may not be below zero. */
export function countErrors(spec: JsonObject, names: readonly string[]): readonly FieldError[] {
  return names.flatMap((name) => {
    const value = fieldOf(spec, name);
    if (typeof value !== 'number' || value >= 0) return [];
    return [invalidField(`spec.${name}`, value, 'must be greater than or equal to 0')];
  });
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

/** What a template is refused for wherever it stands. */
export function templateContentErrors(template: JsonObject, at: string): readonly FieldError[] {
  return podSpecErrors(objectField(template, 'spec') ?? {}, `${at}.spec`);
}

export function templateErrors(
  template: JsonObject,
  restartPolicies: readonly string[],
): readonly FieldError[] {
  const spec = objectField(template, 'spec') ?? {};
  const policy = stringField(spec, 'restartPolicy') ?? '';
  const errors = templateContentErrors(template, 'spec.template');
  if (restartPolicies.includes(policy)) return errors;
  const field = 'spec.template.spec.restartPolicy';
  // What was not said was filled in.
  if (policy === 'Always')
    return [...errors, requiredField(field, 'valid values: "OnFailure", "Never"')];
  return [...errors, unsupportedValue(field, policy, restartPolicies)];
}

export function podSpecErrors(spec: JsonObject, path: string): readonly FieldError[] {
  const containers = listField(spec, 'containers').filter(isJsonObject);
  if (containers.length === 0) return [requiredField(`${path}.containers`)];
  return ['containers', 'initContainers'].flatMap((list) =>
    listField(spec, list)
      .filter(isJsonObject)
      .flatMap((container, index) => containerErrors(container, `${path}.${list}[${index}]`)),
  );
}

function containerErrors(container: JsonObject, at: string): readonly FieldError[] {
  const missing = ['name', 'image'].filter((name) => !stringField(container, name));
  const unnamed = listField(container, 'env').flatMap((variable, index) =>
    isJsonObject(variable) && !stringField(variable, 'name')
      ? [requiredField(`${at}.env[${index}].name`)]
      : [],
  );
  return [
    ...missing.map((name) => requiredField(`${at}.${name}`)),
    ...unnamed,
    ...portErrors(listField(container, 'ports').filter(isJsonObject), `${at}.ports`),
    ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((name) => {
      const probe = objectField(container, name);
      return probe === undefined ? [] : probeErrors(probe, `${at}.${name}`);
    }),
  ];
}

function portErrors(ports: readonly JsonObject[], at: string): readonly FieldError[] {
  return ports.flatMap(({ name = '', containerPort = 0 }, index) => {
    const isKnown = name !== '' && ports.slice(0, index).some((other) => other.name === name);
    const number = Number(containerPort);
    const range = 'must be between 1 and 65535, inclusive';
    return [
      ...(isKnown ? [duplicateField(`${at}[${index}].name`, name)] : []),
      ...(number === 0 ? [requiredField(`${at}[${index}].containerPort`)] : []),
      ...(number < 0 || number > 65_535
        ? [invalidField(`${at}[${index}].containerPort`, number, range)]
        : []),
    ];
  });
}

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

function probeErrors(probe: JsonObject, at: string): readonly FieldError[] {
  const found = handlers.filter((name) => objectField(probe, name) !== undefined);
  if (found.length === 0) return [requiredField(at, 'must specify a handler type')];
  return found.flatMap((name) => {
    const port = objectField(probe, name)?.port ?? 0;
    if (name === 'exec' || typeof port !== 'number' || (port >= 1 && port <= 65_535)) return [];
    return [invalidField(`${at}.${name}.port`, port, 'must be between 1 and 65535, inclusive')];
  });
}

export function selectorIsImmutable(object: JsonObject, before: JsonObject): readonly FieldError[] {
  const selector = objectField(objectField(object, 'spec') ?? {}, 'selector') ?? {};
  const old = objectField(objectField(before, 'spec') ?? {}, 'selector') ?? {};
  if (deepEqual(selector, old)) return [];
  return [invalidField('spec.selector', selector, 'field is immutable')];
}
