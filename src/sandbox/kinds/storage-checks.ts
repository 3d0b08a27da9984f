import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, stringField } from '../json-fields.ts';
import { dnsSubdomain, qualifiedName } from '../metadata/name-rules.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';
import { accessModeErrors } from './claim-rules.ts';
import {
  between,
  type Check,
  fields,
  named,
  oneOf,
  optional,
  required,
  unlessEmpty,
} from './field-checks.ts';
import { nodeSelector, qualified } from './pod-checks.ts';
import { unique } from './policy-checks.ts';
import { billionthsOf } from './resource-rules.ts';
import { backstepErrors, driverName, hostPathErrors, networkFiles } from './volume-rules.ts';

const capacity: Check = ({ value, at }) => {
  const amounts = isJsonObject(value) ? value : {};
  const names = Object.keys(amounts);
  return [
    ...(names.length === 0 ? [requiredField(at)] : []),
    ...(names.length === 1 && names[0] === 'storage'
      ? []
      : [unsupportedValue(at, value ?? null, ['storage'])]),
    ...names.flatMap((name) => [
      ...(billionthsOf(amounts[name]) < 0n
        ? [invalidField(`${at}[${name}]`, amounts[name], 'must be a valid resource quantity')]
        : []),
      ...(billionthsOf(amounts[name]) > 0n
        ? []
        : [invalidField(`${at}[${name}]`, amounts[name], 'must be greater than zero')]),
    ]),
  ];
};

/** Names of iSCSI targets. */
const targetNames = [
  /^iqn.*iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]+:[^,;*&$|\s]+$/,
  /^iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]+:[^,;*&$|\s]+$/,
  /^eui.[a-zA-Z0-9]{16}$/,
  /^naa.[a-zA-Z0-9]{32}$/,
];
const targetName: Check = ({ value, at }) =>
  targetNames.some((pattern) => pattern.test(String(value)))
    ? []
    : [invalidField(at, value, 'must be valid format')];

const secretReference = optional(fields({ name: required(), namespace: required() }));
const initiator: Check = ({ value, at, owner }) => {
  const place = at.replace(/Name$/, 'name');
  return value === undefined ? [] : targetName({ value, at: place, owner });
};

/** Volumes by type, in the order in which the server finds them. */
const sources: Readonly<Record<string, Check>> = {
  hostPath: ({ value, at }) => hostPathErrors(isJsonObject(value) ? value : {}, at),
  nfs: networkFiles,
  iscsi: fields({
    targetPortal: required(),
    iqn: (found) =>
      found.value === undefined || found.value === '' ? required()(found) : targetName(found),
    lun: between(0, 255),
    secretRef: ({ value, at, owner }) => {
      if (isJsonObject(value))
        return stringField(value, 'name') ? [] : [requiredField(`${at}.name`)];
      const isNeeded = owner.chapAuthDiscovery === true || owner.chapAuthSession === true;
      return isNeeded ? [requiredField(at)] : [];
    },
    initiatorName: initiator,
  }),
  local: fields({
    path: ({ value = '', at }) =>
      value === '' ? [requiredField(at)] : backstepErrors(String(value), at),
  }),
  csi: fields({
    driver: driverName,
    volumeHandle: required(),
    controllerPublishSecretRef: secretReference,
    controllerExpandSecretRef: secretReference,
    nodePublishSecretRef: secretReference,
    nodeExpandSecretRef: secretReference,
  }),
};
const unchecked = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'rbd',
  'quobyte',
  'cephfs',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'storageos',
];

/** The fields of which a volume has one. */
export const volumeSources = ['hostPath', ...unchecked, 'nfs', 'iscsi', 'local', 'csi'];

function sourceErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const present = volumeSources.filter((name) => isJsonObject(spec[name]));
  const [first, ...others] = present;
  if (first === undefined) return [requiredField(at, 'must specify a volume type')];
  return [
    ...(sources[first]?.({ value: spec[first], at: `${at}.${first}`, owner: spec }) ?? []),
    ...others.map((name) =>
      forbiddenField(`${at}.${name}`, 'may not specify more than 1 volume type'),
    ),
    ...(first === 'local' && !isJsonObject(spec.nodeAffinity)
      ? [requiredField(`${at}.nodeAffinity`, 'Local volume requires node affinity')]
      : []),
  ];
}

const volumeSpec: Check = ({ value, at }) => sourceErrors(isJsonObject(value) ? value : {}, at);
const modes: Check = ({ value, at }) => [
  ...required()({ value, at, owner: {} }),
  ...accessModeErrors(Array.isArray(value) ? value : [], at),
];

export const volumeChecks = fields({
  'spec!.accessModes': modes,
  'spec!.capacity': capacity,
  'spec!.persistentVolumeReclaimPolicy': oneOf('Delete', 'Recycle', 'Retain'),
  'spec!.nodeAffinity': optional(({ value, at }) => {
    const { required: selector } = isJsonObject(value) ? value : {};
    if (!isJsonObject(selector))
      return [requiredField(`${at}.required`, 'must specify required node constraints')];
    return nodeSelector({ value: selector, at: `${at}.required`, owner: {} });
  }),
  spec: volumeSpec,
  'spec!.storageClassName': named(dnsSubdomain),
  'spec!.volumeMode': oneOf('Block', 'Filesystem'),
});

/** Each term has each key once, and no two terms are the same. */
const topologies: Check = ({ value, at }) => {
  const known = new Set<string>();
  return (Array.isArray(value) ? value : []).flatMap((item: Json, index: number) => {
    const term = isJsonObject(item) ? item : {};
    const place = `${at}[${index}].matchLabelExpressions`;
    const expressions = listField(term, 'matchLabelExpressions');
    const text = JSON.stringify(
      expressions
        .map((each) =>
          isJsonObject(each) ? [each.key ?? '', [...listField(each, 'values')].sort()] : [],
        )
        .sort(),
    );
    const isKnown = known.has(text);
    known.add(text);
    return [
      ...unique('key')({ value: expressions as Json, at: place, owner: term }),
      ...expressionChecks({
        value: { matchLabelExpressions: expressions as Json },
        at: `${at}[${index}]`,
        owner: term,
      }),
      ...(isKnown || expressions.length === 0 ? [duplicateField(place, '')] : []),
    ];
  });
};

const expressionChecks = fields({
  'matchLabelExpressions[].key': qualified,
  'matchLabelExpressions[].values': [
    required(),
    ({ value, at }) =>
      (Array.isArray(value) ? value : []).flatMap((text: Json, index: number, all: Json[]) =>
        all.indexOf(text) < index ? [duplicateField(`${at}[${index}]`, text)] : [],
      ),
  ],
});

export const storageClassChecks = fields({
  provisioner: [
    required(),
    ({ value = '', at }) =>
      value === ''
        ? []
        : qualifiedName(String(value).toLowerCase()).map((message) =>
            invalidField(at, String(value).toLowerCase(), message),
          ),
  ],
  reclaimPolicy: unlessEmpty(oneOf('Delete', 'Retain')),
  volumeBindingMode: oneOf('Immediate', 'WaitForFirstConsumer'),
  allowedTopologies: topologies,
});
