import type { Json, JsonObject } from '#util/json.ts';
import { objectField, withField } from '../json-fields.ts';
import type { KindRegistry } from '../kinds/kind-registry.ts';
import type {
  ObjectLister,
  ServedKind,
  Subresource,
  VersionedObject,
} from '../kinds/served-kind.ts';
import { StatusError } from '../status/status-error.ts';
import type { ObjectStore } from '../store/object-store.ts';

/** The dependencies of request handlers. */
export interface RestContext {
  readonly store: ObjectStore;
  readonly kinds: KindRegistry;
  /** The current time, as RFC 3339 with seconds. */
  readonly now: () => string;
  /** The time after a number of seconds, as RFC 3339. */
  readonly later: (seconds: number) => string;
  readonly newUid: () => string;
  /** Returns the random suffix for `generateName`. */
  readonly newSuffix: () => string;
  /** Parses YAML bodies; undefined = only JSON is supported. @throws Error that describes the syntax error */
  readonly parseYaml: ((text: string) => Json) | undefined;
  /** The policies that writes must pass. @default none: writes of the sandbox itself */
  readonly admission?: WriteAdmission;
  /** Who writes, as policies see it: the `userInfo` of a request. */
  readonly user: JsonObject;
  /** Called before an object is stored. @throws StatusError when it cannot be stored */
  readonly assertStorable?: (object: JsonObject) => void;
}

/** A write, as policies see it. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** Its name is empty in a create, and where a collection is deleted. */
  readonly target: Target;
  /** Undefined for a deletion. For the scale subresource, a Scale. */
  readonly object: JsonObject | undefined;
  /** Undefined for a create. */
  readonly oldObject: JsonObject | undefined;
  readonly dryRun: boolean;
  readonly user: JsonObject;
}

/** Policies that change or reject writes. */
export interface WriteAdmission {
  /** Returns the object as the policies change it. @throws StatusError */
  mutate(request: AdmissionRequest): JsonObject | undefined;
  /** Returns warnings about a valid object. @throws StatusError when a policy denies the write */
  validate(request: AdmissionRequest): readonly string[];
}

/** The kind and object that a request addresses. */
export interface Target {
  readonly kind: ServedKind;
  readonly subresource: Subresource;
  /** Empty = cluster-scoped, or all namespaces. */
  readonly namespace: string;
  /** Empty = the collection. */
  readonly name: string;
}

/** A JSON body with warnings. */
export interface RestAnswer {
  readonly code: number;
  readonly body: Json;
  readonly warnings: readonly string[];
}

/** Lists stored objects, for admission. */
export function objectLister({ store }: RestContext): ObjectLister {
  return { list: (collection) => store.list(collection).map(({ object }) => object) };
}

/** Adds warnings that were found before the answer, also to a rejection. */
export function answerWithWarnings(
  warnings: readonly string[],
  answer: () => RestAnswer,
): RestAnswer {
  try {
    const result = answer();
    return { ...result, warnings: [...warnings, ...result.warnings] };
  } catch (error) {
    throw error instanceof StatusError ? error.withWarnings(warnings) : error;
  }
}

/** A stored object in the version of a request, under the current schema. */
export function inVersion(kind: ServedKind, stored: VersionedObject): JsonObject {
  const { object } = stored;
  if (object.apiVersion === kind.apiVersion) return kind.read(stored, object);
  const converted = kind.conversion?.fromStored(object) ?? object;
  return kind.read(stored, withField(converted, 'apiVersion', kind.apiVersion));
}

/** An object in its storage version. A server has it converted without a version: a webhook can tell a write from a read by that. */
export function inStorageVersion(kind: ServedKind, object: JsonObject): JsonObject {
  if (kind.apiVersion === kind.storageApiVersion) return object;
  const { resourceVersion } = objectField(object, 'metadata') ?? {};
  const converted = convertedToStorage(kind, withVersion(object, undefined));
  return withVersion(converted, resourceVersion);
}

function withVersion(object: JsonObject, resourceVersion: Json | undefined): JsonObject {
  const metadata = objectField(object, 'metadata');
  if (metadata === undefined) return object;
  return withField(object, 'metadata', withField(metadata, 'resourceVersion', resourceVersion));
}

function convertedToStorage(kind: ServedKind, object: JsonObject): JsonObject {
  const converted = kind.conversion?.toStored(object) ?? object;
  return withField(converted, 'apiVersion', kind.storageApiVersion);
}

/** What a dry run of a write would store, as a read answers it. A server has it converted with its version. */
export function asIfStored(kind: ServedKind, object: JsonObject): JsonObject {
  if (kind.conversion === undefined || !kind.isCustom) return object;
  const stored =
    kind.apiVersion === kind.storageApiVersion ? object : convertedToStorage(kind, object);
  return inVersion(kind, { object: stored, version: Infinity });
}

/** The group whose rules validate the object: Events of `events.k8s.io` use those of the core group. */
export function storageGroup({ storageApiVersion }: ServedKind): string {
  const slash = storageApiVersion.indexOf('/');
  return storageApiVersion.slice(0, Math.max(slash, 0));
}
