import type { JsonObject } from '#util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import { configKey, dnsSubdomain, qualifiedName, variableName } from '../metadata/name-rules.ts';
import {
  type FieldError,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';

const fieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const resources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

/** Validates the environment variables of a container. */
export function environmentErrors(
  variables: readonly JsonObject[],
  at: string,
): readonly FieldError[] {
  return variables.flatMap((variable, index) => {
    const name = stringField(variable, 'name') ?? '';
    const field = `${at}[${index}].name`;
    return [
      ...(name === ''
        ? [requiredField(field)]
        : variableName(name).map((message) => invalidField(field, name, message))),
      ...valueErrors(variable, `${at}[${index}].valueFrom`),
    ];
  });
}

function valueErrors(variable: JsonObject, at: string): readonly FieldError[] {
  const from = objectField(variable, 'valueFrom');
  if (from === undefined) return [];
  const present = sources.filter((name) => objectField(from, name) !== undefined);
  const errors = present.flatMap((name) =>
    sourceErrors(name, objectField(from, name) ?? {}, `${at}.${name}`),
  );
  if (present.length === 0) {
    const names = sources.map((name) => `\`${name}\``);
    const list = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
    return [invalidField(at, '', `must specify one of: ${list}`)];
  }
  if (stringField(variable, 'value'))
    return [...errors, invalidField(at, '', 'may not be specified when `value` is not empty')];
  if (present.length === 1) return errors;
  return [...errors, invalidField(at, '', 'may not have more than one field specified at a time')];
}

function sourceErrors(name: string, source: JsonObject, at: string): readonly FieldError[] {
  switch (name) {
    case 'fieldRef':
      return fieldErrors(source, at);
    case 'resourceFieldRef':
      return resourceFieldErrors(source, at);
    case 'configMapKeyRef':
    case 'secretKeyRef':
      return keyErrors(source, at);
    default:
      return [];
  }
}

/** Fields that only volumes support. */
const volumePaths = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Validates a reference to a field of the pod. */
export function fieldErrors(
  source: JsonObject,
  at: string,
  isOfVolume = false,
): readonly FieldError[] {
  const path = stringField(source, 'fieldPath') ?? '';
  const version = stringField(source, 'apiVersion') ?? '';
  if (version === '') return [requiredField(`${at}.apiVersion`)];
  if (path === '') return [requiredField(`${at}.fieldPath`)];
  if (version !== 'v1') {
    const detail = `error converting fieldPath: unsupported pod version: ${version}`;
    return [invalidField(`${at}.fieldPath`, path, detail)];
  }
  const [, map, key] = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/.exec(path) ?? [];
  if (map !== undefined && key !== undefined) {
    const text = map === 'metadata.annotations' ? key.toLowerCase() : key;
    return qualifiedName(text).map((message) => invalidField(at, text, message));
  }
  const allowed = isOfVolume ? volumePaths : fieldPaths;
  if (allowed.includes(path)) return [];
  if (isOfVolume && fieldPaths.includes(path))
    return [unsupportedValue(`${at}.fieldPath`, path, allowed)];
  // Unknown fields are reported before fields that only volumes support.
  if (path === 'metadata.annotations' || path === 'metadata.labels')
    return [unsupportedValue(`${at}.fieldPath`, path, fieldPaths)];
  const detail = `error converting fieldPath: field label not supported: ${path}`;
  return [invalidField(`${at}.fieldPath`, path, detail)];
}

/** Validates a reference to a resource of a container. */
export function resourceFieldErrors(source: JsonObject, at: string): readonly FieldError[] {
  const resource = stringField(source, 'resource') ?? '';
  if (resource === '') return [requiredField(`${at}.resource`)];
  if (resources.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource)) return [];
  return [unsupportedValue(`${at}.resource`, resource, resources)];
}

function keyErrors(source: JsonObject, at: string): readonly FieldError[] {
  const [name = '', key = ''] = ['name', 'key'].map((field) => stringField(source, field) ?? '');
  return [
    ...dnsSubdomain(name).map((message) => invalidField(`${at}.name`, name, message)),
    ...(key === ''
      ? [requiredField(`${at}.key`)]
      : configKey(key).map((message) => invalidField(`${at}.key`, key, message))),
  ];
}

/** Validates ConfigMaps and Secrets whose entries become environment variables. */
export function environmentSourceErrors(
  maps: readonly JsonObject[],
  at: string,
): readonly FieldError[] {
  return maps.flatMap((map, index) => {
    const prefix = stringField(map, 'prefix') ?? '';
    const present = ['configMapRef', 'secretRef'].filter((name) => map[name] !== undefined);
    return [
      ...variableName(prefix).map((message) =>
        invalidField(`${at}[${index}].prefix`, prefix, message),
      ),
      ...present.flatMap((name) =>
        mapNameErrors(objectField(map, name) ?? {}, `${at}[${index}].${name}.name`),
      ),
      ...(present.length === 0
        ? [invalidField(at, '', 'must specify one of: `configMapRef` or `secretRef`')]
        : []),
      ...(present.length > 1
        ? [invalidField(at, '', 'may not have more than one field specified at a time')]
        : []),
    ];
  });
}

function mapNameErrors(reference: JsonObject, at: string): readonly FieldError[] {
  const name = stringField(reference, 'name') ?? '';
  if (name === '') return [requiredField(at)];
  return dnsSubdomain(name.replace(/-$/, 'a')).map((message) => invalidField(at, name, message));
}
