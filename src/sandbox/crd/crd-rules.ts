import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { type CelEnvironment, createCelEnvironment } from '../cel/cel-environment.ts';
import { readRules } from '../cel/rule-set.ts';
import {
  isJsonList,
  listField,
  mapObjects,
  objectField,
  stringField,
  withField,
} from '../json-fields.ts';
import type { BuiltinRules } from '../kinds/builtin-kind.ts';
import { resourceNames } from '../kinds/served-kind.ts';
import { stringsOf } from '../metadata/validate-metadata.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { hasOwnRules } from './crd-conversion.ts';
import type { PatternProblem } from './schema-rules/structure-rules.ts';
import { validateCrd, validateCrdUpdate, validateNewCrd } from './validate-crd.ts';

/** The finalizer that keeps a CRD until its objects are deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** The names of CRDs as a kind. */
export const crdNames = resourceNames({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
});

/** The rules of CRDs. `patternProblem` validates regular expressions as the server does. */
export function crdRules(patternProblem: PatternProblem): BuiltinRules {
  const environment = createCelEnvironment();
  const rules = { environment, patternProblem };
  return {
    ...plainRules,
    warnings: (crd, before) => [
      ...unsupportedRules(crd, environment).map(
        (rule) =>
          `The sandbox cannot evaluate this CEL rule and accepts objects that violate it: ${rule}`,
      ),
      // Once, not with each update.
      ...(hasForeignWebhook(crd) && !hasForeignWebhook(before) ? [notConverted] : []),
    ],
    validate: (crd) => validateCrd(crd, rules),
  };
}

const plainRules: BuiltinRules = {
  names: crdNames,
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
  validateCreate: validateNewCrd,
  validateUpdate: validateCrdUpdate,
};

const notConverted =
  'The sandbox does not call the conversion webhook: objects have the same fields in all versions';

/** Whether the CRD has a webhook that the sandbox does not stand in for. */
function hasForeignWebhook(crd: JsonObject | undefined): boolean {
  const conversion = objectField(objectField(crd ?? {}, 'spec') ?? {}, 'conversion') ?? {};
  return conversion.strategy === 'Webhook' && !hasOwnRules(crd ?? {});
}

/** CEL rules that the sandbox cannot evaluate. */
function unsupportedRules(crd: JsonObject, environment: CelEnvironment): readonly string[] {
  return versionsOf(crd).flatMap((version) => {
    const schema = objectField(objectField(version, 'schema') ?? {}, 'openAPIV3Schema');
    return schema === undefined
      ? []
      : readRules(environment, schema as StructuralSchema).unsupported;
  });
}

/** The deletion of a CRD keeps its generation and sets the Terminating condition. */
function withPendingDeletion(crd: JsonObject, before: JsonObject): JsonObject {
  const metadata = objectField(crd, 'metadata') ?? {};
  const finalizers = stringsOf(metadata, 'finalizers');
  const retainedFinalizers = finalizers.includes(cleanupFinalizer)
    ? finalizers
    : [...finalizers, cleanupFinalizer];
  const { generation, deletionTimestamp } = objectField(before, 'metadata') ?? {};
  // Only a repeated deletion sets this field.
  const { deletionGracePeriodSeconds: _, ...withoutGrace } = metadata;
  const kept = deletionTimestamp === undefined ? withoutGrace : metadata;
  const status = objectField(crd, 'status') ?? {};
  const conditions = listField(status, 'conditions');
  const isListed = conditions.some(
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
    metadata: { ...kept, generation, finalizers: retainedFinalizers },
    status: { ...status, conditions: isListed ? conditions : [...conditions, terminating] },
  };
}

/** A CRD that is being deleted while objects of it exist; the same object when the condition is set already. */
export function withDeletionInProgress(crd: JsonObject): JsonObject {
  const status = objectField(crd, 'status') ?? {};
  const conditions = listField(status, 'conditions');
  const updated = conditions.map((condition) =>
    isJsonObject(condition) && condition.reason === 'InstanceDeletionPending'
      ? {
          ...condition,
          reason: 'InstanceDeletionInProgress',
          message: 'CustomResource deletion is in progress',
        }
      : condition,
  );
  const isListed = updated.every((condition, index) => condition === conditions[index]);
  return isListed ? crd : withField(crd, 'status', { ...status, conditions: updated });
}

/** The versions of a CRD. */
export function versionsOf(crd: JsonObject): readonly JsonObject[] {
  return listField(objectField(crd, 'spec') ?? {}, 'versions').filter(isJsonObject);
}

/** Adds the storage version to status.storedVersions. */
function withStoredVersions(object: JsonObject): JsonObject {
  const status = objectField(object, 'status') ?? {};
  const storage = versionsOf(object).find((version) => version.storage === true);
  const name = stringField(storage ?? {}, 'name') ?? '';
  const stored = stringsOf(status, 'storedVersions');
  if (name === '' || stored.includes(name)) return object;
  return withField(object, 'status', { ...status, storedVersions: [...stored, name] });
}

/** The status of a CRD always has conditions; null when there are none. */
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
  const conversion = withServicePort(objectField(spec, 'conversion') ?? { strategy: 'None' });
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
      ...withoutNullDefaults(spec),
    },
  };
}

function withServicePort(conversion: JsonObject): JsonObject {
  const webhook = objectField(conversion, 'webhook');
  const clientConfig = objectField(webhook ?? {}, 'clientConfig');
  const service = objectField(clientConfig ?? {}, 'service');
  if (service === undefined || service.port !== undefined) return conversion;
  const called = { ...clientConfig, service: { ...service, port: 443 } };
  return { ...conversion, webhook: { ...webhook, clientConfig: called } };
}

/** The server drops a default of null. */
function withoutNullDefaults(spec: JsonObject): JsonObject {
  const { versions } = spec;
  if (!isJsonList(versions)) return {};
  return {
    versions: mapObjects(versions, (version) => {
      const schema = objectField(version, 'schema');
      const root = schema === undefined ? undefined : objectField(schema, 'openAPIV3Schema');
      if (schema === undefined || root === undefined) return version;
      const openAPIV3Schema = withoutNulls(root);
      if (openAPIV3Schema === root) return version;
      return withField(version, 'schema', withField(schema, 'openAPIV3Schema', openAPIV3Schema));
    }),
  };
}

/** Shares every schema without such defaults. */
function withoutNulls(schema: JsonObject): JsonObject {
  const bare = schema.default === null ? withField(schema, 'default', undefined) : schema;
  const fields = objectField(bare, 'properties') ?? {};
  const changes: Record<string, Json> = {};
  for (const [name, field] of Object.entries(fields)) {
    const inner = isJsonObject(field) ? withoutNulls(field) : field;
    if (inner !== undefined && inner !== field)
      changes.properties = { ...(changes.properties as JsonObject | undefined), [name]: inner };
  }
  for (const keyword of ['items', 'additionalProperties']) {
    const inner = objectField(bare, keyword);
    const known = inner === undefined ? undefined : withoutNulls(inner);
    if (known !== undefined && known !== inner) changes[keyword] = known;
  }
  if (Object.keys(changes).length === 0) return bare;
  if (changes.properties !== undefined)
    changes.properties = { ...fields, ...(changes.properties as JsonObject) };
  return { ...bare, ...changes };
}
