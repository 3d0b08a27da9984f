import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { dnsLabel } from '../metadata/index.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/index.ts';
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

export interface CheckedVolumes {
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
    default:
      return [];
  }
}

function hostPathErrors(source: JsonObject, at: string): readonly FieldError[] {
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
  const path = stringField(item, 'path') ?? '';
  const isReserved = path.startsWith('..') && path !== '..' && !path.startsWith('../');
  return [
    ...(stringField(item, 'key') ? [] : [requiredField(`${at}.key`)]),
    ...(path === '' ? [requiredField(`${at}.path`)] : []),
    ...descendingPathErrors(path, `${at}.path`),
    ...(isReserved ? [invalidField(`${at}.path`, path, "must not start with '..'")] : []),
    ...modeErrors(item.mode, `${at}.mode`),
  ];
}

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

function backstepErrors(path: string, at: string): readonly FieldError[] {
  return path.split('/').includes('..') ? [invalidField(at, path, "must not contain '..'")] : [];
}
