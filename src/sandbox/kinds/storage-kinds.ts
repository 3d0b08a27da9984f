import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { type FieldError, forbiddenField, invalidField } from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { claimSpecErrors } from './claim-rules.ts';
import { errorsOf } from './field-checks.ts';
import { withMetadata } from './generation.ts';
import { withDefaults } from './pod-defaults.ts';
import { resourceNames } from './served-kind.ts';
import { storageClassChecks, volumeChecks } from './storage-checks.ts';

export const claimRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    namespaced: true,
    shortNames: ['pvc'],
  }),
  hasStatus: true,
  fillDefaults: (claim) => ({
    ...claim,
    spec: withDefaults(objectField(claim, 'spec') ?? {}, { volumeMode: 'Filesystem' }),
    status: withDefaults(objectField(claim, 'status') ?? {}, { phase: 'Pending' }),
  }),
  prepareCreate: (claim) => ({
    ...claim,
    spec: withSource(objectField(claim, 'spec') ?? {}),
    status: { phase: 'Pending' },
  }),
  admit: (claim, before) => (before === undefined ? protectedBy(claim, claimFinalizer) : claim),
  validate: (claim) => claimSpecErrors(objectField(claim, 'spec') ?? {}, 'spec'),
  validateUpdate: claimUpdateErrors,
};

/** The finalizer of a claim while pods use it. */
const claimFinalizer = 'kubernetes.io/pvc-protection';

function protectedBy(object: JsonObject, finalizer: string): JsonObject {
  const finalizers = listField(objectField(object, 'metadata') ?? {}, 'finalizers');
  if (finalizers.includes(finalizer)) return object;
  return withMetadata(object, 'finalizers', [...finalizers, finalizer]);
}

/** A source has two fields; the newer one is set from the older. */
function withSource(spec: JsonObject): JsonObject {
  const { dataSource, dataSourceRef } = spec;
  if (!isJsonObject(dataSource) || dataSourceRef !== undefined) return spec;
  if (isKnownSource(dataSource)) return { ...spec, dataSourceRef: dataSource };
  const { dataSource: _, ...rest } = spec;
  return rest;
}

/** Others are dropped: a claim, or a snapshot. */
function isKnownSource(source: JsonObject): boolean {
  const [group, kind] = ['apiGroup', 'kind'].map((name) => stringField(source, name) ?? '');
  if (kind === 'PersistentVolumeClaim') return group === '';
  return kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io';
}

/** Only the size of a claim may change, and the volume that it is bound to. */
function claimUpdateErrors(claim: JsonObject, before: JsonObject): readonly FieldError[] {
  const shape = (object: JsonObject) => {
    const { resources: _, volumeName: __, ...rest } = objectField(object, 'spec') ?? {};
    return rest;
  };
  if (deepEqual(shape(claim), shape(before))) return [];
  const detail =
    'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  return [forbiddenField('spec', detail)];
}

export const volumeRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    namespaced: false,
    shortNames: ['pv'],
  }),
  hasStatus: true,
  fillDefaults: (volume) => ({
    ...volume,
    spec: withDefaults(objectField(volume, 'spec') ?? {}, {
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
    }),
    status: withDefaults(objectField(volume, 'status') ?? {}, { phase: 'Pending' }),
  }),
  prepareCreate: (volume, now) => ({
    ...volume,
    status: { phase: 'Pending', lastPhaseTransitionTime: now() },
  }),
  admit: (volume, before) =>
    before === undefined ? protectedBy(volume, 'kubernetes.io/pv-protection') : volume,
  validate: (volume) => errorsOf(volumeChecks, volume),
};

export const storageClassRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    plural: 'storageclasses',
    namespaced: false,
    shortNames: ['sc'],
  }),
  fillDefaults: (storageClass) =>
    withDefaults(storageClass, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  validate: (storageClass) => errorsOf(storageClassChecks, storageClass),
  validateUpdate: (storageClass, before) =>
    ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']
      .filter((name) => !deepEqual(storageClass[name], before[name]))
      .map((name) => invalidField(name, storageClass[name], 'field is immutable')),
};
