import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { createCelEnvironment, readRules } from '../cel/index.ts';
import { listField, objectField, stringField, withField } from '../json-fields.ts';
import { type BuiltinRules, resourceNames } from '../kinds/index.ts';
import { textsOf } from '../metadata/index.ts';
import type { StructuralSchema } from '../schema/index.ts';
import { validateCrd, validateCrdUpdate } from './validate-crd.ts';

/** Holds a CRD until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

export const crdRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    namespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
  }),
  hasStatus: true,
  hasGeneration: true,
  allowsUnconditionalUpdate: false,
  fillDefaults: withCrdDefaults,
  writtenZeros: withWrittenConditions,
  prepareCreate(object) {
    const storage = versionsOf(object).find((version) => version.storage === true);
    const name = stringField(storage ?? {}, 'name');
    const storedVersions = name === undefined ? null : [name];
    const acceptedNames = { kind: '', plural: '' };
    return { ...object, status: { acceptedNames, storedVersions } };
  },
  prepareUpdate: withStoredVersions,
  prepareDelete: withPendingDeletion,
  warnings: (crd) =>
    unreadRules(crd).map(
      (rule) => `The sandbox does not evaluate this rule, and accepts what breaks it: ${rule}`,
    ),
  validate: validateCrd,
  validateUpdate: validateCrdUpdate,
};

/** Rules in CEL that nobody here understands. */
function unreadRules(crd: JsonObject): readonly string[] {
  const environment = createCelEnvironment();
  return versionsOf(crd).flatMap((version) => {
    const schema = objectField(objectField(version, 'schema') ?? {}, 'openAPIV3Schema');
    return schema === undefined ? [] : readRules(environment, schema as StructuralSchema).unread;
  });
}

/** A CRD is deleted in a way of its own: its generation stays, and a condition says what comes. */
function withPendingDeletion(crd: JsonObject, before: JsonObject): JsonObject {
  const metadata = objectField(crd, 'metadata') ?? {};
  const finalizers = textsOf(metadata, 'finalizers');
  const held = finalizers.includes(cleanupFinalizer)
    ? finalizers
    : [...finalizers, cleanupFinalizer];
  const generation = objectField(before, 'metadata')?.generation;
  const { deletionGracePeriodSeconds: _, ...kept } = metadata;
  const status = objectField(crd, 'status') ?? {};
  const conditions = listField(status, 'conditions');
  const isTold = conditions.some(
    (condition) => isJsonObject(condition) && condition.type === 'Terminating',
  );
  const terminating = {
    lastTransitionTime: metadata.deletionTimestamp,
    message:
      'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    reason: 'InstanceDeletionPending',
    status: 'True',
    type: 'Terminating',
  };
  return {
    ...crd,
    metadata: { ...kept, generation, finalizers: held },
    status: { ...status, conditions: isTold ? conditions : [...conditions, terminating] },
  };
}

/** The versions that a CRD lists. */
export function versionsOf(crd: JsonObject): readonly JsonObject[] {
  return listField(objectField(crd, 'spec') ?? {}, 'versions').filter(isJsonObject);
}

/** A version that becomes the stored one is remembered. */
function withStoredVersions(object: JsonObject): JsonObject {
  const status = objectField(object, 'status') ?? {};
  const storage = versionsOf(object).find((version) => version.storage === true);
  const name = stringField(storage ?? {}, 'name') ?? '';
  const stored = textsOf(status, 'storedVersions');
  if (name === '' || stored.includes(name)) return object;
  return withField(object, 'status', { ...status, storedVersions: [...stored, name] });
}

/** The status of a CRD always has conditions, null before there are any. */
function withWrittenConditions(object: JsonObject): JsonObject {
  const status = objectField(object, 'status') ?? {};
  const { conditions = null, storedVersions = null } = status;
  return { ...object, status: { ...status, conditions, storedVersions } };
}

function withCrdDefaults(object: JsonObject): JsonObject {
  const spec = objectField(object, 'spec');
  if (spec === undefined) return object;
  const names = objectField(spec, 'names') ?? {};
  const kind = stringField(names, 'kind') ?? '';
  const conversion: Json = objectField(spec, 'conversion') ?? { strategy: 'None' };
  return {
    ...object,
    spec: {
      ...spec,
      names: {
        ...names,
        ...(stringField(names, 'singular') ? {} : { singular: kind.toLowerCase() }),
        ...(stringField(names, 'listKind') || kind === '' ? {} : { listKind: `${kind}List` }),
      },
      conversion,
    },
  };
}
