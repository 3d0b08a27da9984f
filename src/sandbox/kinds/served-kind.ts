import type { JsonObject } from '#util/json.ts';
import type { FieldManager } from '../apply/field-manager.ts';
import type { MergeSchema } from '../apply/field-type-builder.ts';
import type { MetadataRules } from '../metadata/validate-metadata.ts';
import type { FieldError } from '../status/field-error.ts';
import type { PatchSchema } from '../strategic/item-order.ts';
import type { ServingPeriod } from './generation.ts';

/** The names of a resource, as in discovery. */
export interface ResourceNames {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
}

export type Subresource = '' | 'status' | 'scale';

/** A decoded body. */
export interface Decoded {
  readonly object: JsonObject;
  /** Paths that the kind does not have, sorted. */
  readonly unknownFields: readonly string[];
}

/** The fields of the scale subresource, as paths. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  readonly labelSelector: readonly string[] | undefined;
  /** `spec.selector` is a map of labels. @default a label selector */
  readonly selectsByLabels?: boolean;
}

/** A printer column of a CRD. */
export interface CustomColumn {
  readonly name: string;
  readonly type: string;
  /** Empty = none. */
  readonly format: string;
  /** Empty = the default description, which names the path. */
  readonly description: string;
  readonly priority: number;
  /** The path of the value: `.spec.replicas`. */
  readonly jsonPath: string;
}

/** Converts between a version of a kind and its storage version. */
export interface Conversion {
  fromStored(object: JsonObject): JsonObject;
  toStored(object: JsonObject): JsonObject;
}

/** A stored object, and the version at which it was stored. */
export interface VersionedObject {
  readonly object: JsonObject;
  readonly version: number;
}

/** Lists stored objects, for admission. */
export interface ObjectLister {
  /** The objects of a collection: `/services`. */
  list(collection: string): readonly JsonObject[];
}

/** Completes a valid object from other stored objects; `before` is undefined when the object is new. */
export type Admission = (
  object: JsonObject,
  before: JsonObject | undefined,
  objects: ObjectLister,
) => JsonObject;

/** One served version of a kind: which requests it supports and how it processes objects. Immutable; a change of the CRD replaces it. */
export interface ServedKind {
  readonly names: ResourceNames;
  /** `apps/v1`. */
  readonly apiVersion: string;
  /** Where objects of all versions are stored: `apps/deployments`. */
  readonly collection: string;
  /** The storage version. */
  readonly storageApiVersion: string;
  /** Undefined = versions differ by name only. */
  readonly conversion: Conversion | undefined;
  /** Answers a create request without storing the object; undefined = objects are stored. */
  readonly review: ((object: JsonObject) => JsonObject) | undefined;
  readonly isCustom: boolean;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  readonly patchTypes: readonly string[];
  /** How a strategic merge patch treats fields; undefined = such patches are not supported. */
  readonly patchSchema: PatchSchema | undefined;
  /** A PUT without a resourceVersion replaces the current object. */
  readonly allowsUnconditionalUpdate: boolean;
  /** A PUT to a name that does not exist creates the object. */
  readonly createsOnUpdate: boolean;
  readonly metadataRules: MetadataRules;
  /** The paths that field selectors may name in addition to `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly string[];
  /** The warning that the server adds to all requests for the kind; undefined = none. */
  readonly deprecation: string | undefined;
  /** The table columns of a custom kind; undefined = the kind is built in. */
  readonly columns: readonly CustomColumn[] | undefined;
  /** The component of the kind in the OpenAPI document. */
  readonly openApi: { readonly name: string; readonly schema: MergeSchema };
  /** Undefined = the kind never changes. */
  readonly servingPeriod: ServingPeriod | undefined;
  /** Reads a stored object under the current schema, which may have changed since it was stored. */
  read(stored: VersionedObject, named: JsonObject): JsonObject;
  fieldManager(subresource: Subresource): FieldManager;
  /** Decodes a body: removes unknown fields and nulls, adds defaults. @throws DecodeError */
  decode(object: JsonObject): Decoded;
  /** Adds the defaults to an applied object, before validation. @throws DecodeError */
  complete(object: JsonObject): JsonObject;
  /** Converts an object to its stored shape; the result of an apply was not decoded from a body. @throws DecodeError */
  normalise(object: JsonObject): JsonObject;
  prepareCreate(object: JsonObject): JsonObject;
  /** Restores the fields that a write through an endpoint cannot change; increases the generation. */
  prepareUpdate(object: JsonObject, before: JsonObject, subresource: Subresource): JsonObject;
  /** @throws StatusError 403 when an object that this one needs does not exist */
  readonly admit: Admission;
  /** The server's warnings for an accepted object; for an update, only the new ones. */
  warnings(object: JsonObject, before: JsonObject | undefined): readonly string[];
  /** Rules that a validated update violates as the object did before: they do not reject the update. */
  toleratedErrors(object: JsonObject): readonly string[];
  /** A deletion without a policy orphans the dependents. */
  readonly orphansByDefault: boolean;
  /** @throws StatusError 403 for objects that cannot be deleted */
  assertDeletable(name: string): void;
  /** Returns the object as it is marked for deletion. */
  prepareDelete(object: JsonObject, before: JsonObject): JsonObject;
  /** The grace period of a deletion, in seconds; 0 = the object is deleted at once, unless it has finalizers. */
  gracePeriodSeconds(object: JsonObject): number;
  validateCreate(object: JsonObject): readonly FieldError[];
  validateUpdate(
    object: JsonObject,
    before: JsonObject,
    subresource: Subresource,
  ): readonly FieldError[];
}

/**
 * The version of a kind that controllers use: the stored one if it is served, in which no object fails to be converted. Those of a server use the
 * preferred one.
 */
export function storedOf(versions: readonly ServedKind[]): ServedKind | undefined {
  const isStored = ({ apiVersion, storageApiVersion, isCustom }: ServedKind) =>
    isCustom && apiVersion === storageApiVersion;
  return versions.find(isStored) ?? versions[0];
}

export const jsonPatchType = 'application/json-patch+json';
export const mergePatchType = 'application/merge-patch+json';
export const strategicPatchType = 'application/strategic-merge-patch+json';
export const applyPatchType = 'application/apply-patch+yaml';

interface NamesOptions {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** @default the kind in lower case */
  readonly singular?: string;
}

/** The names of a built-in resource; singular and list kind derive from the kind. */
export function resourceNames(options: NamesOptions): ResourceNames {
  const { apiVersion, kind, plural, namespaced, shortNames = [], categories = [] } = options;
  const slash = apiVersion.indexOf('/');
  return {
    group: apiVersion.slice(0, Math.max(slash, 0)),
    version: apiVersion.slice(slash + 1),
    kind,
    listKind: `${kind}List`,
    plural,
    singular: options.singular ?? kind.toLowerCase(),
    shortNames,
    categories,
    namespaced,
  };
}
