import type { Json, JsonObject } from '#util/json.ts';
import { FieldManager } from '../apply/field-manager.ts';
import type { FieldType } from '../apply/field-type.ts';
import { pathSetOf } from '../apply/path-set.ts';
import { fieldOf, objectField, withField } from '../json-fields.ts';
import { dnsSubdomain, type NameRule } from '../metadata/name-rules.ts';
import {
  strictFinalizerErrors,
  validateMetadata,
  validateMetadataUpdate,
} from '../metadata/validate-metadata.ts';
import { goDecode } from '../schema/go-decode.ts';
import type { GoType } from '../schema/go-type-builder.ts';
import { forbidden } from '../status/api-errors.ts';
import type { FieldError } from '../status/field-error.ts';
import type { PatchSchema } from '../strategic/item-order.ts';
import { changedFields } from './field-checks.ts';
import { withGeneration, withMetadata } from './generation.ts';
import {
  type Admission,
  applyPatchType,
  type Conversion,
  jsonPatchType,
  mergePatchType,
  type ResourceNames,
  type ScalePaths,
  type ServedKind,
  type Subresource,
  strategicPatchType,
} from './served-kind.ts';

/** The version in which objects of a kind are stored. */
interface StoredForm extends Conversion {
  readonly collection: string;
  readonly apiVersion: string;
}

/** The rules of a built-in kind that its OpenAPI document does not contain. */
export interface BuiltinRules {
  readonly names: ResourceNames;
  /** Objects are stored as another kind. */
  readonly storedAs?: StoredForm;
  readonly review?: (object: JsonObject, now: string) => JsonObject;
  readonly hasStatus?: boolean;
  readonly hasGeneration?: boolean;
  /** Metadata of which a change is a new generation, as is one of any other field. @default none */
  readonly countedMetadata?: 'annotations' | 'labels';
  readonly scale?: ScalePaths;
  readonly createsOnUpdate?: boolean;
  /** @default true */
  readonly allowsUnconditionalUpdate?: boolean;
  /** @default a DNS subdomain */
  readonly nameRule?: NameRule;
  readonly selectableFields?: readonly string[];
  /** Adds fields that are always written, null or empty, although the schema does not say so. */
  readonly writtenZeros?: (object: JsonObject) => JsonObject;
  /** Fills in defaults that the server's code sets, not its schema. Runs on every body. */
  readonly fillDefaults?: (object: JsonObject) => JsonObject;
  /** A create keeps the status of the body. @default false */
  readonly keepsStatus?: boolean;
  readonly prepareCreate?: (object: JsonObject, now: () => string) => JsonObject;
  /** Completes a valid object from other stored objects. @throws StatusError 403 for a missing object */
  readonly admit?: Admission;
  readonly prepareUpdate?: (object: JsonObject, before: JsonObject) => JsonObject;
  /** Names of objects that cannot be deleted, and why. */
  readonly protectedNames?: { readonly names: readonly string[]; readonly because: string };
  /** A deletion without a policy orphans the dependents. @default false */
  readonly orphansByDefault?: boolean;
  /** Returns the object as it is marked for deletion. */
  readonly prepareDelete?: (object: JsonObject, before: JsonObject) => JsonObject;
  readonly deprecation?: string;
  /** The server's warnings for an accepted object; `before` is undefined for a new one. */
  readonly warnings?: (object: JsonObject, before: JsonObject | undefined) => readonly string[];
  /** The grace period that the node has to stop a deleted object, in seconds. @default 0 */
  readonly gracePeriodSeconds?: (object: JsonObject) => number;
  readonly validate?: (object: JsonObject) => readonly FieldError[];
  /** Errors that reject only new objects. */
  readonly validateCreate?: (object: JsonObject) => readonly FieldError[];
  /** Fields that no update changes, with what an absent one is in messages: `{ 'spec.selector': null }`. */
  readonly immutable?: Readonly<Record<string, Json>>;
  /** Other errors of an update. */
  readonly validateUpdate?: (object: JsonObject, before: JsonObject) => readonly FieldError[];
}

interface BuiltinKindOptions {
  readonly rules: BuiltinRules;
  readonly fieldType: () => FieldType;
  readonly goType: () => GoType;
  readonly patchSchema: PatchSchema;
  readonly openApi: ServedKind['openApi'];
  readonly now: () => string;
}

/** A kind that is served without a CRD. */
export function builtinKind({
  rules,
  fieldType,
  goType,
  patchSchema,
  openApi,
  now,
}: BuiltinKindOptions): ServedKind {
  const { names, hasStatus = false, hasGeneration = false } = rules;
  const { group, version, kind, plural, namespaced } = names;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const managers = new Map<Subresource, FieldManager>();
  const metadataRules = {
    namespaced,
    nameRule: rules.nameRule ?? dnsSubdomain,
    strictFinalizers: true,
  };
  const written = rules.writtenZeros ?? ((object: JsonObject) => object);
  const fill = (object: JsonObject) => written(rules.fillDefaults?.(object) ?? object);

  return {
    names,
    apiVersion,
    collection: rules.storedAs?.collection ?? `${group}/${plural}`,
    storageApiVersion: rules.storedAs?.apiVersion ?? apiVersion,
    conversion: rules.storedAs,
    review: rules.review && ((object) => rules.review?.(object, now()) ?? object),
    isCustom: false,
    hasStatus,
    scale: rules.scale,
    patchTypes: [jsonPatchType, mergePatchType, strategicPatchType, applyPatchType],
    patchSchema,
    allowsUnconditionalUpdate: rules.allowsUnconditionalUpdate ?? true,
    createsOnUpdate: rules.createsOnUpdate ?? false,
    metadataRules,
    openApi,
    selectableFields: rules.selectableFields ?? [],
    columns: undefined,
    servingPeriod: undefined,
    read: (_, named) => named,
    deprecation: rules.deprecation,
    decode(object) {
      const decoded = goDecode(goType(), object, '', 'json');
      return { object: fill(decoded.object), unknownFields: decoded.unknownFields };
    },
    complete: (object) => fill(goDecode(goType(), object, '', 'merged').object),
    normalise: (object) => fill(goDecode(goType(), object).object),
    fieldManager(subresource) {
      const known = managers.get(subresource);
      if (known !== undefined) return known;
      const resetFields = pathSetOf([[subresource === 'status' ? 'f:spec' : 'f:status']]);
      const reset = hasStatus ? { resetFields } : {};
      const emptyObject = written(goDecode(goType(), {}).object);
      const encode = (object: JsonObject) => goDecode(goType(), object, '', 'written').object;
      const types = new Map([[apiVersion, fieldType()]]);
      const options = { encode, apiVersion, kind, types, subresource, now, emptyObject, ...reset };
      const manager = new FieldManager(options);
      managers.set(subresource, manager);
      return manager;
    },
    prepareCreate(object) {
      const bare =
        hasStatus && rules.keepsStatus !== true ? withField(object, 'status', undefined) : object;
      const prepared = rules.prepareCreate?.(bare, now) ?? bare;
      const whole = written(goDecode(goType(), prepared, '', 'merged').object);
      return hasGeneration ? withMetadata(whole, 'generation', 1) : whole;
    },
    prepareUpdate(next, before, subresource) {
      const object = goDecode(goType(), next).object;
      if (subresource === 'status')
        return withField(object, 'spec', fieldOf(before, 'spec') ?? undefined);
      const kept = hasStatus
        ? withField(object, 'status', fieldOf(before, 'status') ?? undefined)
        : object;
      const prepared = rules.prepareUpdate?.(kept, before) ?? kept;
      if (!hasGeneration) return prepared;
      return withGeneration(prepared, before, ['metadata', 'status'], rules.countedMetadata);
    },
    admit: (object, before, objects) =>
      rules.admit?.(goDecode(goType(), object).object, before, objects) ?? object,
    warnings: (object, before) => rules.warnings?.(object, before) ?? [],
    toleratedErrors: () => [],
    orphansByDefault: rules.orphansByDefault ?? false,
    assertDeletable(name) {
      const { names: kept = [], because = '' } = rules.protectedNames ?? {};
      if (kept.includes(name)) throw forbidden(names, name, because);
    },
    prepareDelete: (object, before) => rules.prepareDelete?.(object, before) ?? object,
    gracePeriodSeconds: (object) => rules.gracePeriodSeconds?.(object) ?? 0,
    validateCreate(object) {
      const metadata = objectField(object, 'metadata') ?? {};
      return [
        ...validateMetadata(metadata, metadataRules),
        ...(rules.validate?.(object) ?? []),
        ...(rules.validateCreate?.(object) ?? []),
      ];
    },
    validateUpdate(object, before, subresource) {
      const metadata = objectField(object, 'metadata') ?? {};
      const errors = [
        ...validateMetadataUpdate(metadata, objectField(before, 'metadata') ?? {}),
        ...strictFinalizerErrors(metadata),
      ];
      if (subresource === 'status') return errors;
      return [
        ...errors,
        ...changedFields(object, before, rules.immutable ?? {}),
        ...(rules.validateUpdate?.(object, before) ?? []),
        // Most kinds validate an update like a create.
        ...(rules.validate === undefined ? [] : validateMetadata(metadata, metadataRules)),
        ...(rules.validate?.(object) ?? []),
      ];
    },
  };
}
