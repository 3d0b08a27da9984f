import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField, withField } from '../json-fields.ts';
import { forbidden } from '../status/api-errors.ts';
import { type FieldError, forbiddenField, invalidField } from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { claimSpecErrors } from './claim-rules.ts';
import { changedFields, errorsOf } from './field-checks.ts';
import { withMetadata } from './generation.ts';
import { withDefaults, withHostPathType } from './pod-defaults.ts';
import { billionthsOf } from './resource-rules.ts';
import { type ObjectLister, resourceNames } from './served-kind.ts';
import { storageClassChecks, volumeChecks, volumeSources } from './storage-checks.ts';

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
  prepareUpdate: (claim) => ({ ...claim, spec: withSource(objectField(claim, 'spec') ?? {}) }),
  admit(claim, before, objects) {
    if (before === undefined) return protectedBy(claim, claimFinalizer);
    assertExpandable(claim, before, objects);
    return claim;
  },
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

/** A source has two fields, of which each is set from the other one. */
function withSource(spec: JsonObject): JsonObject {
  const { dataSource, dataSourceRef } = spec;
  if (isJsonObject(dataSourceRef) && dataSource === undefined && !dataSourceRef.namespace)
    return { ...spec, dataSource: dataSourceRef };
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

/** The size of a bound claim may change, and what was not set. */
function claimUpdateErrors(claim: JsonObject, before: JsonObject): readonly FieldError[] {
  const [spec, old] = [objectField(claim, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
  const free = [
    ...['volumeName', 'storageClassName'].filter((name) => old[name] === undefined),
    ...(isBound(before) ? ['volumeAttributesClassName'] : []),
  ];
  const fixed = free.reduce((each, name) => withField(each, name, old[name]), spec);
  const sized = isBound(before) ? withStorage(fixed, storageOf(old)) : fixed;
  const detail =
    'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  const capacity = objectField(objectField(before, 'status') ?? {}, 'capacity')?.storage;
  const size = billionthsOf(storageOf(spec));
  const isTooSmall = size < billionthsOf(storageOf(old)) && size <= billionthsOf(capacity);
  return [
    ...(deepEqual(sized, old) ? [] : [forbiddenField('spec', detail)]),
    ...(isTooSmall
      ? [forbiddenField(`spec.${storagePath}`, 'field can not be less than status.capacity')]
      : []),
    ...changedFields(spec, old, { volumeMode: null }),
  ];
}

const storagePath = 'resources.requests.storage';

function isBound(claim: JsonObject): boolean {
  return objectField(claim, 'status')?.phase === 'Bound';
}

function requestsOf(spec: JsonObject): JsonObject | undefined {
  return objectField(objectField(spec, 'resources') ?? {}, 'requests');
}

function storageOf(spec: JsonObject): Json | undefined {
  return requestsOf(spec)?.storage;
}

function withStorage(spec: JsonObject, storage: Json | undefined): JsonObject {
  const requests = requestsOf(spec);
  if (requests === undefined) return spec;
  const resources = { ...objectField(spec, 'resources'), requests: { ...requests, storage } };
  return { ...spec, resources };
}

/**
 * A claim of a class that does not exist has a simulated volume, which can grow.
 * @throws StatusError 403 for a larger claim whose class does not allow it
 */
function assertExpandable(claim: JsonObject, before: JsonObject, objects: ObjectLister): void {
  const [spec, old] = [objectField(claim, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
  if (billionthsOf(storageOf(spec)) <= billionthsOf(storageOf(old))) return;
  const storageClass = objects
    .list('storage.k8s.io/storageclasses')
    .find(({ metadata }) => isJsonObject(metadata) && metadata.name === old.storageClassName);
  if (storageClass === undefined || storageClass.allowVolumeExpansion === true) return;
  const because =
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
  const { names } = claimRules;
  throw forbidden(names, stringField(objectField(claim, 'metadata') ?? {}, 'name') ?? '', because);
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
    spec: withDefaults(withHostPathType(objectField(volume, 'spec') ?? {}), {
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
  validateUpdate: volumeUpdateErrors,
};

const fixedAffinity = 'field is immutable, except for updating from beta label to GA';

function volumeUpdateErrors(volume: JsonObject, before: JsonObject): readonly FieldError[] {
  const [spec, old] = [objectField(volume, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
  const detail = 'spec.persistentvolumesource is immutable after creation';
  const isChanged = volumeSources.some((name) => !deepEqual(spec[name], old[name]));
  return [
    ...(isChanged ? [forbiddenField('spec.persistentvolumesource', detail)] : []),
    ...changedFields(spec, old, { volumeMode: null }),
    ...(old.nodeAffinity === undefined || deepEqual(spec.nodeAffinity, old.nodeAffinity)
      ? []
      : [invalidField('nodeAffinity', spec.nodeAffinity, fixedAffinity)]),
  ];
}

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
  immutable: { parameters: null, provisioner: '', reclaimPolicy: null, volumeBindingMode: null },
};
