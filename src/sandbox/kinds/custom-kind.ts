import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { ApplyError } from '../apply/apply-error.ts';
import { FieldManager } from '../apply/field-manager.ts';
import type { FieldType } from '../apply/field-type.ts';
import { FieldTypeBuilder, type MergeComponents } from '../apply/field-type-builder.ts';
import { pathSetOf } from '../apply/path-set.ts';
import type { RuleSet } from '../cel/rule-set.ts';
import { goKind, goText, goType } from '../go-value.ts';
import { fieldOf, inKeyOrder, objectField, withField } from '../json-fields.ts';
import { dnsSubdomain } from '../metadata/name-rules.ts';
import {
  finalizerWarnings,
  validateMetadata,
  validateMetadataUpdate,
} from '../metadata/validate-metadata.ts';
import type { GoType } from '../schema/go-type-builder.ts';
import {
  dropNulls,
  fillDefaults,
  isUntypedNull,
  pruneObject,
  type StructuralSchema,
} from '../schema/structural-schema.ts';
import { validateLists } from '../schema/validate-lists.ts';
import { validateValue } from '../schema/validate-value.ts';
import { plainError } from '../status/api-errors.ts';
import { type FieldError, invalidField } from '../status/field-error.ts';
import { customOpenApi, publishedSchema } from './custom-openapi.ts';
import { coerceEmbedded, decodeMetadata, validateEmbedded } from './embedded-resources.ts';
import { type ServingPeriod, withGeneration, withMetadata } from './generation.ts';
import {
  applyPatchType,
  type Conversion,
  type CustomColumn,
  type Decoded,
  jsonPatchType,
  mergePatchType,
  type ResourceNames,
  type ScalePaths,
  type ServedKind,
  type Subresource,
  type VersionedObject,
} from './served-kind.ts';
import { ConversionError, type VersionConverter } from './version-converter.ts';

/** One version of a CRD, parsed. */
export interface CustomVersion {
  readonly names: ResourceNames;
  readonly schema: StructuralSchema;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  readonly selectableFields: readonly string[];
  readonly columns: readonly CustomColumn[];
  readonly deprecation: string | undefined;
}

interface CustomKindOptions {
  readonly version: CustomVersion;
  /** All versions of the CRD, including this one and those that are not served. */
  readonly versions: readonly CustomVersion[];
  readonly storageVersion: string;
  /** How objects differ between versions; undefined = by name only. */
  readonly converter: VersionConverter | undefined;
  /** The components of the built-in kinds, which include the type of metadata. */
  readonly components: MergeComponents;
  readonly objectMeta: GoType;
  /** The CEL rules of the schema. */
  readonly rules: RuleSet;
  readonly now: () => string;
  readonly servingPeriod: ServingPeriod;
}

/** Builds the served kind for one version of a CRD. */
export function customKind(options: CustomKindOptions): ServedKind {
  const { version, storageVersion, components, objectMeta, rules, now, servingPeriod } = options;
  const { converter } = options;
  const { names, schema, hasStatus, scale, selectableFields, columns } = version;
  const { group, kind, plural, namespaced } = names;
  const apiVersion = `${group}/${names.version}`;
  const metadataRules = { namespaced, nameRule: dnsSubdomain, strictFinalizers: false };
  const types = fieldTypes(options.versions, components);
  const managers = new Map<Subresource, FieldManager>();
  const typeMeta = { apiVersion, kind };

  function decode(object: JsonObject): Decoded {
    const metadata = decodeMetadata(objectMeta, object);
    const pruned = pruneObject(schema, object);
    const whole = withField(pruned.object, 'metadata', metadata.object);
    const coerced = coerceEmbedded(schema, dropNulls(schema, whole), objectMeta) as JsonObject;
    const filled = fillDefaults(schema, coerced);
    const unknownFields = [...pruned.unknownFields, ...metadata.unknownFields].sort();
    return { object: filled, unknownFields };
  }

  /** Errors of updated objects that their previous version had too, by object. */
  const toleratedByObject = new WeakMap<JsonObject, readonly FieldError[]>();

  function brokenRules(object: JsonObject, before: JsonObject | undefined): readonly FieldError[] {
    const broken = rules.check(object, before);
    if (broken.tolerated.length > 0) toleratedByObject.set(object, broken.tolerated);
    return broken.errors;
  }

  /** Caches objects that were read: most are unchanged. */
  const readCache = new WeakMap<JsonObject, JsonObject>();

  function read({ object, version: storedAt }: VersionedObject, named: JsonObject): JsonObject {
    // Written under the current schema.
    if (named === object && storedAt > servingPeriod.since) return object;
    // A conversion has read it already.
    if (converter !== undefined && named !== object) return named;
    const before = readCache.get(object);
    if (before !== undefined) return before;
    const found = conformToSchema(schema, named);
    readCache.set(object, found);
    return found;
  }

  return {
    names,
    apiVersion,
    servingPeriod,
    read,
    collection: `${group}/${plural}`,
    storageApiVersion: `${group}/${storageVersion}`,
    conversion: conversionOf(options),
    review: undefined,
    isCustom: true,
    hasStatus,
    scale,
    patchTypes: [jsonPatchType, mergePatchType, applyPatchType],
    patchSchema: undefined,
    allowsUnconditionalUpdate: false,
    createsOnUpdate: false,
    metadataRules,
    selectableFields,
    columns,
    deprecation: version.deprecation,
    openApi: customOpenApi(version),
    decode,
    complete(object) {
      // An apply rejects unknown fields, but accepts all below an object without properties: they are removed here.
      const pruned = pruneObject(schema, object).object;
      const kept = dropNulls(schema, pruned, isUntypedNull) as JsonObject;
      return fillDefaults(schema, withField(kept, 'metadata', object.metadata));
    },
    normalise(object) {
      const metadata = decodeMetadata(objectMeta, object).object;
      const whole = withField(object, 'metadata', metadata);
      const filled = fillDefaults(schema, coerceEmbedded(schema, whole, objectMeta) as JsonObject);
      return inKeyOrder(filled) as JsonObject;
    },
    fieldManager(subresource) {
      const known = managers.get(subresource);
      if (known !== undefined) return known;
      const resetFields = hasStatus ? resetFieldsOf(subresource) : undefined;
      const manager = new FieldManager({
        ...typeMeta,
        types,
        subresource,
        allowsUntyped: true,
        unknownVersionError: (version) => conversionError(typeMeta, version),
        ...(converter === undefined ? {} : { convert: ownerConversion(converter) }),
        now,
        ...(resetFields === undefined ? {} : { resetFields }),
      });
      managers.set(subresource, manager);
      return manager;
    },
    prepareCreate(object) {
      const bare = hasStatus ? withField(object, 'status', undefined) : object;
      return withMetadata(bare, 'generation', 1);
    },
    prepareUpdate(object, before, subresource) {
      if (subresource === 'status') return withOnlyStatusOf(object, before);
      const kept = hasStatus
        ? withField(object, 'status', fieldOf(before, 'status') ?? undefined)
        : object;
      return withGeneration(kept, before, ['metadata']);
    },
    warnings(object, before) {
      const metadata = objectField(object, 'metadata') ?? {};
      return finalizerWarnings(metadata, before && objectField(before, 'metadata'));
    },
    toleratedErrors: (object) =>
      (toleratedByObject.get(object) ?? []).map(({ field, message }) => `${field}: ${message}`),
    admit: (object) => object,
    orphansByDefault: false,
    assertDeletable: () => undefined,
    prepareDelete: (object) => object,
    gracePeriodSeconds: () => 0,
    validateCreate(object) {
      const metadata = objectField(object, 'metadata') ?? {};
      const headErrors = validateHead(object, typeMeta);
      if (headErrors.length > 0) return headErrors;
      const errors = [
        ...validateMetadata(metadata, metadataRules),
        ...validateValue({ schema, value: withoutHead(object), path: '', before: undefined }),
        ...scaleErrors(object, scale?.specReplicas),
        ...validateEmbedded(schema, object),
        ...validateLists(schema, object),
      ];
      return withRules(errors, rules, () => brokenRules(object, undefined));
    },
    validateUpdate(object, before, subresource) {
      const metadata = objectField(object, 'metadata') ?? {};
      const hasOldDuplicates = validateLists(schema, before).length > 0;
      const headErrors = validateHead(object, typeMeta);
      if (headErrors.length > 0) return headErrors;
      const errors = [
        ...validateMetadataUpdate(metadata, objectField(before, 'metadata') ?? {}),
        ...(subresource === 'status'
          ? validateStatus(schema, object, before)
          : [
              ...validateWhole(schema, object, before),
              ...scaleErrors(object, scale?.specReplicas),
            ]),
        ...validateEmbedded(schema, object),
        ...(hasOldDuplicates ? [] : validateLists(schema, object)),
      ];
      return withRules(errors, rules, () => brokenRules(object, before));
    },
  };
}

/** Removes fields that the schema does not have and adds its defaults; returns the same object when nothing changes. */
function conformToSchema(schema: StructuralSchema, object: JsonObject): JsonObject {
  const pruned = dropNulls(schema, pruneObject(schema, object).object) as JsonObject;
  const filled = fillDefaults(schema, pruned);
  return deepEqual(filled, object) ? object : filled;
}

/** Each version keeps only the fields of its schema. */
function conversionOf(options: CustomKindOptions): Conversion | undefined {
  const { version, versions, storageVersion, converter } = options;
  const schemaOf = (name: string) => versions.find((each) => each.names.version === name)?.schema;
  if (converter !== undefined) return convertedBy(converter, options, schemaOf);
  if (version.names.version === storageVersion) return undefined;
  const stored = schemaOf(storageVersion);
  return {
    fromStored: (object) => object,
    toStored: (object) => (stored === undefined ? object : conformToSchema(stored, object)),
  };
}

/** As on the server, only the version that an object is stored in adds its defaults. */
function convertedBy(
  converter: VersionConverter,
  { version, storageVersion }: CustomKindOptions,
  schemaOf: (name: string) => StructuralSchema | undefined,
): Conversion {
  const { group, version: name } = version.names;
  const stored = schemaOf(storageVersion) ?? {};
  const known = new WeakMap<JsonObject, JsonObject>();
  const convert = (object: JsonObject, target: string) =>
    withServerErrors(() => converter.convert(object, `${group}/${target}`));
  return {
    fromStored(object) {
      const before = known.get(object);
      if (before !== undefined) {
        withServerErrors(() => converter.assertReachable(object));
        return before;
      }
      const from = String(object.apiVersion).slice(group.length + 1);
      const whole = conformToSchema(schemaOf(from) ?? {}, object);
      const converted = convert(whole, name);
      const pruned = dropNulls(version.schema, pruneObject(version.schema, converted).object);
      known.set(object, pruned as JsonObject);
      return pruned as JsonObject;
    },
    toStored: (object) => conformToSchema(stored, convert(object, storageVersion)),
  };
}

/** @throws StatusError */
function withServerErrors<Result>(convert: () => Result): Result {
  try {
    return convert();
  } catch (error) {
    throw error instanceof ConversionError ? plainError(error.message) : error;
  }
}

function ownerConversion(converter: VersionConverter) {
  return (object: JsonObject, apiVersion: string) => {
    try {
      return converter.convert(object, apiVersion);
    } catch (error) {
      throw error instanceof ConversionError
        ? new ApplyError('unconvertible', error.message)
        : error;
    }
  };
}

/** The server's words for a version that the CRD does not have. */
function conversionError(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  target: string,
): string {
  const groupOf = (version: string) => version.slice(0, version.lastIndexOf('/') + 1);
  return groupOf(target) === groupOf(apiVersion)
    ? `request to convert CR to an invalid group/version: ${target}`
    : `${goKind(apiVersion, kind)} is unstructured and is not suitable for converting to ${JSON.stringify(target)}`;
}

/** CEL rules are not evaluated for values with these errors. */
const blocking: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function withRules(
  errors: readonly FieldError[],
  rules: RuleSet,
  check: () => readonly FieldError[],
): readonly FieldError[] {
  if (rules.isEmpty) return errors;
  if (errors.some(({ reason }) => blocking.has(reason)))
    return [...errors, invalidField('<nil>', null, unchecked)];
  return [...errors, ...check()];
}

function resetFieldsOf(subresource: Subresource) {
  switch (subresource) {
    case '':
      return pathSetOf([['f:status']]);
    case 'status':
      return pathSetOf([['f:metadata'], ['f:spec']]);
    case 'scale':
      return undefined;
  }
}

/** The new status and managedFields with all other fields of the previous object. */
function withOnlyStatusOf(object: JsonObject, before: JsonObject): JsonObject {
  const managedFields = objectField(object, 'metadata')?.managedFields;
  const kept = withField(before, 'status', fieldOf(object, 'status'));
  const resourceVersion = objectField(object, 'metadata')?.resourceVersion;
  return withMetadata(
    withMetadata(kept, 'managedFields', managedFields),
    'resourceVersion',
    resourceVersion,
  );
}

const largestInt32 = 2_147_483_647;

/** Validates the number of replicas of a kind with the scale subresource. */
function scaleErrors(object: JsonObject, path: readonly string[] = []): readonly FieldError[] {
  const field = `.${path.join('.')}`;
  const mistyped = (value: Json, expected: string) => {
    const detail = `${field} accessor error: ${goText(value)} is of the type ${goType(value)}, expected ${expected}`;
    return [invalidField(field, 0, detail)];
  };
  let value: Json | undefined = object;
  for (const name of path) {
    if (value === undefined || value === null) return [];
    if (!isJsonObject(value)) return mistyped(value, 'map[string]interface{}');
    value = fieldOf(value, name);
  }
  if (path.length === 0 || value === undefined) return [];
  if (typeof value !== 'number' || !Number.isInteger(value)) return mistyped(value, 'int64');
  if (value < 0) return [invalidField(field, value, 'should be a non-negative integer')];
  const detail = `should be less than or equal to ${largestInt32}`;
  return value > largestInt32 ? [invalidField(field, value, detail)] : [];
}

function validateHead(
  object: JsonObject,
  typeMeta: { readonly apiVersion: string; readonly kind: string },
) {
  const errors: FieldError[] = [];
  for (const name of ['apiVersion', 'kind'] as const) {
    if (object[name] !== typeMeta[name])
      errors.push(invalidField(name, object[name], `must be ${typeMeta[name]}`));
  }
  return errors;
}

function withoutHead(object: JsonObject): JsonObject {
  const { apiVersion: _, kind: __, metadata: ___, ...rest } = object;
  return rest;
}

function validateWhole(schema: StructuralSchema, object: JsonObject, before: JsonObject) {
  const [value, old] = [withoutHead(object), withoutHead(before)];
  return validateValue({ schema, value, path: '', before: old });
}

/** Validates the status separately: messages have paths relative to it. */
function validateStatus(schema: StructuralSchema, object: JsonObject, before: JsonObject) {
  const status = fieldOf(object, 'status');
  const statusSchema = schema.properties?.status;
  if (status === undefined || statusSchema === undefined) return [];
  const old = fieldOf(before, 'status');
  const errors = validateValue({ schema: statusSchema, value: status, path: '', before: old });
  return errors.map((error) => ({
    ...error,
    field: error.field === '' ? 'status' : `status.${error.field}`,
  }));
}

/** The field type of each version, for the merge. */
function fieldTypes(
  versions: readonly CustomVersion[],
  components: MergeComponents,
): ReadonlyMap<string, FieldType> {
  const builder = new FieldTypeBuilder(components);
  return new Map(
    versions.map(({ names, schema }) => [
      `${names.group}/${names.version}`,
      builder.typeOf(publishedSchema(schema)),
    ]),
  );
}
