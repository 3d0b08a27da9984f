import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { dnsLabel, dnsSubdomain } from '../metadata/name-rules.ts';
import { annotationErrors, labelErrors } from '../metadata/validate-metadata.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLong,
  unsupportedValue,
} from '../status/field-error.ts';
import { claimSpecErrors } from './claim-rules.ts';
import { fieldErrors, resourceFieldErrors } from './environment-rules.ts';
import { type Check, errorsOf, fields, required } from './field-checks.ts';
import { isNegativeQuantity } from './resource-rules.ts';

/** Types of volumes in the order in which the server checks them: it uses the first one. */
const sources = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
];

/** Names that the server's error message spells differently. */
const misspelled: Readonly<Record<string, string>> = {
  cephfs: 'cephFS',
  downwardAPI: 'downwarAPI',
};

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

interface CheckedVolumes {
  /** The names of the valid volumes. */
  readonly volumes: ReadonlySet<string>;
  readonly errors: readonly FieldError[];
}

/** Validates the volumes of a pod. */
export function volumeErrors(list: readonly Json[], at: string): CheckedVolumes {
  const volumes = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, volume] of list.entries()) {
    if (!isJsonObject(volume)) continue;
    const name = stringField(volume, 'name') ?? '';
    const field = `${at}[${index}].name`;
    const found = [
      ...sourceErrors(volume, `${at}[${index}]`),
      ...(name === ''
        ? [requiredField(field)]
        : dnsLabel(name).map((message) => invalidField(field, name, message))),
      ...(volumes.has(name) ? [duplicateField(field, name)] : []),
    ];
    if (found.length === 0) volumes.add(name);
    errors.push(...found);
  }
  return { volumes, errors };
}

function sourceErrors(volume: JsonObject, at: string): readonly FieldError[] {
  const [first, ...others] = sources.filter((name) => objectField(volume, name) !== undefined);
  if (first === undefined) return [];
  return [
    ...contentErrors(first, objectField(volume, first) ?? {}, `${at}.${first}`),
    ...others.map((name) =>
      forbiddenField(
        `${at}.${misspelled[name] ?? name}`,
        'may not specify more than 1 volume type',
      ),
    ),
  ];
}

function contentErrors(name: string, source: JsonObject, at: string): readonly FieldError[] {
  switch (name) {
    case 'emptyDir':
      return isNegativeQuantity(source.sizeLimit)
        ? [forbiddenField(`${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
        : [];
    case 'hostPath':
      return hostPathErrors(source, at);
    case 'secret':
      return filesErrors(source, 'secretName', at);
    case 'configMap':
      return filesErrors(source, 'name', at);
    case 'persistentVolumeClaim':
      return stringField(source, 'claimName') ? [] : [requiredField(`${at}.claimName`)];
    case 'downwardAPI':
      return [...modeErrors(source.defaultMode, `${at}.defaultMode`), ...podFileErrors(source, at)];
    case 'projected':
      return [
        ...modeErrors(source.defaultMode, `${at}.defaultMode`),
        ...projectionErrors(source, at),
      ];
    case 'ephemeral':
      return ephemeralErrors(source, at);
    case 'nfs':
      return errorsOf(networkFiles, source, at);
    case 'csi':
      return errorsOf(driver, source, at);
    default:
      return [];
  }
}

export function hostPathErrors(source: JsonObject, at: string): readonly FieldError[] {
  const path = stringField(source, 'path') ?? '';
  const type = stringField(source, 'type') ?? '';
  if (path === '') return [requiredField(`${at}.path`)];
  return [
    ...backstepErrors(path, `${at}.path`),
    ...(hostPathTypes.includes(type) ? [] : [unsupportedValue(`${at}.type`, type, hostPathTypes)]),
  ];
}

function filesErrors(source: JsonObject, name: string, at: string): readonly FieldError[] {
  return [
    ...(stringField(source, name) ? [] : [requiredField(`${at}.${name}`)]),
    ...modeErrors(source.defaultMode, `${at}.defaultMode`),
    ...listField(source, 'items')
      .filter(isJsonObject)
      .flatMap((item, index) => itemErrors(item, `${at}.items[${index}]`)),
  ];
}

function itemErrors(item: JsonObject, at: string): readonly FieldError[] {
  return [
    ...(stringField(item, 'key') ? [] : [requiredField(`${at}.key`)]),
    ...pathErrors(item, at),
    ...modeErrors(item.mode, `${at}.mode`),
  ];
}

/** Validates the path of a file in a volume. */
function pathErrors(item: JsonObject, at: string): readonly FieldError[] {
  const path = stringField(item, 'path') ?? '';
  const isReserved = path.startsWith('..') && path !== '..' && !path.startsWith('../');
  return [
    ...(path === '' ? [requiredField(`${at}.path`)] : []),
    ...descendingPathErrors(path, `${at}.path`),
    ...(isReserved ? [invalidField(`${at}.path`, path, "must not start with '..'")] : []),
  ];
}

/** Validates files with fields of the pod. The server's paths have no index. */
function podFileErrors(source: JsonObject, at: string): readonly FieldError[] {
  return listField(source, 'items').flatMap((item) => {
    const file = isJsonObject(item) ? item : {};
    const [field, resource] = [
      objectField(file, 'fieldRef'),
      objectField(file, 'resourceFieldRef'),
    ];
    const both = 'fieldRef and resourceFieldRef can not be specified simultaneously';
    return [
      ...pathErrors(file, at),
      ...(field === undefined ? [] : fieldErrors(field, `${at}.fieldRef`, true)),
      ...(field !== undefined && resource !== undefined
        ? [invalidField(at, 'resource', both)]
        : []),
      ...(field === undefined && resource !== undefined
        ? volumeResourceErrors(resource, `${at}.resourceFieldRef`)
        : []),
      ...(field === undefined && resource === undefined
        ? [requiredField(at, 'one of fieldRef and resourceFieldRef is required')]
        : []),
      ...modeErrors(file.mode, `${at}.mode`),
    ];
  });
}

function volumeResourceErrors(resource: JsonObject, at: string): readonly FieldError[] {
  const container = stringField(resource, 'containerName')
    ? []
    : [requiredField(`${at}.containerName`)];
  return container.length > 0 ? container : resourceFieldErrors(resource, at);
}

/** Validates the sources of a projected volume; each path is used once. */
function projectionErrors(projection: JsonObject, at: string): readonly FieldError[] {
  const known = new Set<string>();
  return listField(projection, 'sources').flatMap((item, index) => {
    const source = isJsonObject(item) ? item : {};
    const place = `${at}.sources[${index}]`;
    const present = projections.filter((name) => isJsonObject(source[name]));
    return [
      ...present.flatMap((name) => {
        const part = objectField(source, name) ?? {};
        return [
          ...partErrors(name, part, `${place}.${name}`, at),
          ...repeatedPaths(name, part, known, at),
        ];
      }),
      ...(present.length > 1
        ? [forbiddenField(place, 'may not specify more than 1 volume type')]
        : []),
    ];
  });
}

const projections = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken'];
const shortestToken = 600;

function partErrors(
  name: string,
  part: JsonObject,
  at: string,
  volumeAt: string,
): readonly FieldError[] {
  if (name === 'downwardAPI') return podFileErrors(part, at);
  if (name !== 'serviceAccountToken') return filesErrors(part, 'name', at);
  const seconds = Number(part.expirationSeconds ?? 0);
  const place = `${at}.expirationSeconds`;
  return [
    ...(seconds < shortestToken
      ? [invalidField(place, seconds, 'may not specify a duration less than 10 minutes')]
      : []),
    ...(seconds > 2 ** 32
      ? [invalidField(place, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : []),
    ...pathErrors(part, volumeAt),
  ];
}

function repeatedPaths(
  name: string,
  part: JsonObject,
  known: Set<string>,
  at: string,
): readonly FieldError[] {
  return listField(part, 'items').flatMap((item) => {
    const path = isJsonObject(item) ? (stringField(item, 'path') ?? '') : '';
    const shown = name === 'downwardAPI' ? path : part.name;
    if (path !== '' && known.has(path))
      return [invalidField(at, shown, 'conflicting duplicate paths')];
    known.add(path);
    return [];
  });
}

function ephemeralErrors(source: JsonObject, at: string): readonly FieldError[] {
  const template = objectField(source, 'volumeClaimTemplate');
  const place = `${at}.volumeClaimTemplate`;
  if (template === undefined) return [requiredField(place)];
  const { labels, annotations } = objectField(template, 'metadata') ?? {};
  return [
    ...labelErrors(isJsonObject(labels) ? labels : {}, `${place}.metadata.labels`),
    ...annotationErrors(
      isJsonObject(annotations) ? annotations : {},
      `${place}.metadata.annotations`,
    ),
    ...claimSpecErrors(objectField(template, 'spec') ?? {}, `${place}.spec`),
  ];
}

/** Checks of volumes that are also types of PersistentVolumes. */
export const networkFiles = fields({
  server: required(),
  path: [
    required(),
    ({ value = '', at }) =>
      String(value).startsWith('/') ? [] : [invalidField(at, value, 'must be an absolute path')],
  ],
});

export const driverName: Check = ({ value = '', at }) => {
  const text = String(value);
  if (text === '') return [requiredField(at)];
  return [
    ...(text.length > 63 ? [tooLong(at, 63)] : []),
    ...dnsSubdomain(text.toLowerCase()).map((message) => invalidField(at, text, message)),
  ];
};

const driver = fields({ driver: driverName });

function modeErrors(mode: Json | undefined, at: string): readonly FieldError[] {
  if (typeof mode !== 'number' || (mode >= 0 && mode <= 0o777)) return [];
  const detail = 'must be a number between 0 and 0777 (octal), both inclusive';
  return [invalidField(at, mode, detail)];
}

/** Validates a path that must stay within a volume. */
export function descendingPathErrors(path: string, at: string): readonly FieldError[] {
  return [
    ...(path.startsWith('/') ? [invalidField(at, path, 'must be a relative path')] : []),
    ...backstepErrors(path, at),
  ];
}

export function backstepErrors(path: string, at: string): readonly FieldError[] {
  return path.split('/').includes('..') ? [invalidField(at, path, "must not contain '..'")] : [];
}
