import type { JsonObject } from '../../util/json.ts';
import type { FieldManager, MergeSchema } from '../apply/index.ts';
import type { MetadataRules } from '../metadata/index.ts';
import type { FieldError } from '../status/index.ts';
import type { PatchSchema } from '../strategic/index.ts';
import type { ServedLife } from './served-life.ts';

/** The names of a resource, as discovery tells them. */
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

/** A body as the server reads it. */
export interface Decoded {
  readonly object: JsonObject;
  /** Paths that the kind does not have, sorted. */
  readonly unknownFields: readonly string[];
}

/** Where the replicas of a kind with a scale subresource are, as paths of fields. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  readonly labelSelector: readonly string[] | undefined;
  /** `spec.selector` is a map of labels. @default a label selector */
  readonly selectsByLabels?: boolean;
}

/** A column of tables that a CRD asks for. */
export interface CustomColumn {
  readonly name: string;
  readonly type: string;
  /** Empty = none. */
  readonly format: string;
  /** Empty = the path is told. */
  readonly description: string;
  readonly priority: number;
  /** Where the value is: `.spec.replicas`. */
  readonly jsonPath: string;
}

/** Between a version of a kind and the one that its objects are stored in. */
export interface Conversion {
  fromStored(object: JsonObject): JsonObject;
  toStored(object: JsonObject): JsonObject;
}

/** An object that is stored, and when it was. */
export interface Readable {
  readonly object: JsonObject;
  readonly version: number;
}

/** What is stored, as those see it who complete objects. */
export interface ObjectWorld {
  /** The objects of a collection: `/services`. */
  list(collection: string): readonly JsonObject[];
}

/** Completes an object that is valid from what else is stored; before is undefined when it is new. */
export type Admission = (
  object: JsonObject,
  before: JsonObject | undefined,
  world: ObjectWorld,
) => JsonObject;

/**
 * One version of a kind that is served: what its requests may do and what becomes of its objects.
 * Built once, replaced as a whole when a CRD changes.
 */
export interface ServedKind {
  readonly names: ResourceNames;
  /** `apps/v1`. */
  readonly apiVersion: string;
  /** Where objects of all versions are stored: `apps/deployments`. */
  readonly collection: string;
  /** Objects are stored in this version. */
  readonly storageApiVersion: string;
  /** Undefined = versions differ by name only. */
  readonly conversion: Conversion | undefined;
  /** Answers a question that is asked by creating an object; undefined = objects are stored. */
  readonly review: ((object: JsonObject) => JsonObject) | undefined;
  readonly isCustom: boolean;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  readonly patchTypes: readonly string[];
  /** How a strategic merge patch treats fields; undefined = the kind takes none. */
  readonly patchSchema: PatchSchema | undefined;
  /** A PUT without a resourceVersion replaces whatever is there. */
  readonly allowsUnconditionalUpdate: boolean;
  /** A PUT to a name that is not there creates it. */
  readonly createsOnUpdate: boolean;
  readonly metadataRules: MetadataRules;
  /** The paths that field selectors may name beside `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly string[];
  /** What the server says to everybody who asks for the kind; undefined = nothing. */
  readonly deprecation: string | undefined;
  /** What tables show of a custom kind; undefined = the kind is built in. */
  readonly columns: readonly CustomColumn[] | undefined;
  /** The component that the OpenAPI document has for the kind. */
  readonly openApi: { readonly name: string; readonly schema: MergeSchema };
  /** Undefined = the kind is always the same. */
  readonly life: ServedLife | undefined;
  /** What is stored as this version of the kind reads it today: under an earlier schema it was another. */
  read(stored: Readable, named: JsonObject): JsonObject;
  fieldManager(subresource: Subresource): FieldManager;
  /** Reads a body: unknown fields and nulls go, defaults come. @throws DecodeError */
  decode(object: JsonObject): Decoded;
  /** An applied object with its defaults, before anything looks at it. @throws DecodeError */
  complete(object: JsonObject): JsonObject;
  /** An object in the shape that is stored; what an apply merged has not been read from a body. @throws DecodeError */
  normalise(object: JsonObject): JsonObject;
  prepareCreate(object: JsonObject): JsonObject;
  /** What a write through an endpoint may not change is taken from before; counts generations. */
  prepareUpdate(object: JsonObject, before: JsonObject, subresource: Subresource): JsonObject;
  /** @throws StatusError 403 for what an object needs and is not there */
  readonly admit: Admission;
  /** What the server says of an object that it takes, but not gladly; of an update only what is new. */
  warnings(object: JsonObject, before: JsonObject | undefined): readonly string[];
  /** What an update that was validated breaks as the object did before: nobody is refused for that. */
  tolerated(object: JsonObject): readonly string[];
  /** Whose deletion does not say so leaves what it owns. */
  readonly orphansByDefault: boolean;
  /** @throws StatusError 403 for what may never be deleted */
  assertDeletable(name: string): void;
  /** The object as its deletion begins. */
  prepareDelete(object: JsonObject, before: JsonObject): JsonObject;
  /** How long a deleted object is left to its node; 0 = it is gone at once, unless finalizers hold it. */
  gracePeriodSeconds(object: JsonObject): number;
  validateCreate(object: JsonObject): readonly FieldError[];
  validateUpdate(
    object: JsonObject,
    before: JsonObject,
    subresource: Subresource,
  ): readonly FieldError[];
}

export const jsonPatchType = 'application/json-patch+json';
export const mergePatchType = 'application/merge-patch+json';
export const strategicPatchType = 'application/strategic-merge-patch+json';
export const applyPatchType = 'application/apply-patch+yaml';
