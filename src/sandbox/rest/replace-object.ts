import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { inKeyOrder, listField, objectField, stringField, withField } from '../json-fields.ts';
import { withMetadata } from '../kinds/generation.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import { pathSegment } from '../metadata/name-rules.ts';
import {
  stringsOf,
  validateMetadata,
  validateMetadataUpdate,
} from '../metadata/validate-metadata.ts';
import { conflict, invalid, objectModified, plainError } from '../status/api-errors.ts';
import { invalidField } from '../status/field-error.ts';
import { StatusError } from '../status/status-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import {
  asIfStored,
  inStorageVersion,
  inVersion,
  objectLister,
  type RestContext,
  storageGroup,
  type Target,
} from './rest-context.ts';

export interface Replacement {
  readonly stored: StoredObject;
  /** With the managedFields that result from the write. */
  readonly next: JsonObject;
  readonly dryRun: boolean;
  /** Treats the uid of the body as a precondition; otherwise it is an immutable field. */
  readonly isUidPrecondition: boolean;
  /** The object as policies see it. @default the object itself; they change it, too */
  readonly presented?: (object: JsonObject) => JsonObject;
}

export interface Replaced {
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

/**
 * Stores a new state of an object if it changed, and returns it. Deletes an object that is being deleted when its last
 * finalizer is removed.
 * @throws StatusError 409 for another uid or an older version, 422 for invalid fields
 */
export function replaceObject(
  context: RestContext,
  target: Target,
  { stored, next, dryRun, isUidPrecondition, presented }: Replacement,
): Replaced {
  const { kind, subresource } = target;
  const { store, admission, user } = context;
  const before = inVersion(kind, stored);
  const oldMetadata = objectField(before, 'metadata') ?? {};
  if (isUidPrecondition) assertUid(kind, stored, next, dryRun);
  const request = { operation: 'UPDATE', target, dryRun, user } as const;
  const isMutable = admission !== undefined && presented === undefined;
  const mutated = isMutable
    ? (admission.mutate({ ...request, object: next, oldObject: before }) ?? next)
    : next;
  const current = withCurrentVersion(kind, stored, mutated);
  const prepared = withImmutableMetadata(
    kind.prepareUpdate(withOldGeneration(current, oldMetadata), before, subresource),
    oldMetadata,
  );
  const errors = [
    ...commonErrors(kind, prepared, oldMetadata),
    ...kind.validateUpdate(prepared, before, subresource),
  ];
  const tolerated = kind.toleratedErrors(prepared);
  if (errors.length > 0) {
    const kindName = { group: storageGroup(kind), kind: declaredKind(prepared, kind) };
    throw invalid(kindName, stored.name, errors).withWarnings(tolerated);
  }
  const seen = presented ?? ((object: JsonObject) => object);
  const own = [...tolerated, ...kind.warnings(prepared, before)];
  const judged = () =>
    admission?.validate({ ...request, object: seen(prepared), oldObject: seen(before) }) ?? [];
  const warnings = [...own, ...warnedBy(judged, own)];
  const admitted = kind.admit(prepared, before, objectLister(context));
  const timed = withOldTimesIfSame(admitted, before);
  const keepsLink = dryRun && !isUidPrecondition;
  const settled = keepsLink ? timed : withMetadata(timed, 'selfLink', undefined);
  // A scale is no object of its version: that adds no defaults.
  const isScaled = kind.isCustom && subresource === 'scale';
  const normalised = isScaled ? (inKeyOrder(settled) as JsonObject) : kind.normalise(settled);
  context.assertStorable?.(normalised);
  // The server compares the merged object, not its stored shape.
  const isSame =
    deepEqual(kind.isCustom ? settled : normalised, before) && isStoredSo(kind, stored, settled);
  if (isFinished(normalised)) {
    if (!dryRun) store.delete(kind.collection, stored);
    return { object: normalised, warnings };
  }
  if (dryRun || isSame) return { object: asIfStored(kind, normalised), warnings };
  const after = store.put(kind.collection, inStorageVersion(kind, normalised));
  return { object: inVersion(kind, after), warnings };
}

/** The server compares what it would store: an object that is stored in another version is written anew. */
function isStoredSo(kind: ServedKind, stored: StoredObject, next: JsonObject): boolean {
  return (
    !kind.isCustom ||
    (stored.object.apiVersion === kind.storageApiVersion &&
      (kind.conversion === undefined || deepEqual(inStorageVersion(kind, next), stored.object)))
  );
}

/** The warnings of policies; a denial has those before it, too. */
function warnedBy(judge: () => readonly string[], before: readonly string[]): readonly string[] {
  try {
    return judge();
  } catch (error) {
    throw error instanceof StatusError ? error.withWarnings(before) : error;
  }
}

/** The validation of all kinds; a kind's rules may repeat an error, as on the server. */
function commonErrors(kind: ServedKind, object: JsonObject, oldMetadata: JsonObject) {
  const metadata = objectField(object, 'metadata') ?? {};
  const { namespaced } = kind.names;
  const rules = { namespaced, nameRule: pathSegment, strictFinalizers: false };
  return [...validateMetadata(metadata, rules), ...validateMetadataUpdate(metadata, oldMetadata)];
}

/** The kind to report in errors: an object of another kind is reported under that kind. */
function declaredKind(object: JsonObject, kind: ServedKind): string {
  return stringField(object, 'kind') ?? kind.names.kind;
}

function assertUid(
  kind: ServedKind,
  stored: StoredObject,
  next: JsonObject,
  dryRun: boolean,
): void {
  const uid = stringField(objectField(next, 'metadata') ?? {}, 'uid') ?? '';
  const found = stringField(objectField(stored.object, 'metadata') ?? {}, 'uid') ?? '';
  if (uid === '' || uid === found) return;
  const failed = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`;
  const because = `StorageError: invalid object, Code: 4, Key: ${dryRun ? '' : '/registry'}${registryKey(kind, stored)}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`;
  throw conflict(kind.names, stored.name, because);
}

/** Kinds that have another name in the server's etcd. */
const registryNames: Readonly<Record<string, string>> = {
  endpoints: 'services/endpoints',
  ingresses: 'ingress',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  services: 'services/specs',
};

/** The key of the object in the server's etcd, below its root. */
function registryKey({ names, isCustom }: ServedKind, { namespace, name }: StoredObject): string {
  const { group, plural } = names;
  const isExtension = isCustom || group === 'apiextensions.k8s.io';
  const collection = isExtension ? `${group}/${plural}` : (registryNames[plural] ?? plural);
  return `/${collection}/${namespace === '' ? '' : `${namespace}/`}${name}`;
}

/** Checks the resourceVersion of the body, and sets it where the kind allows unconditional updates. */
function withCurrentVersion(kind: ServedKind, stored: StoredObject, next: JsonObject): JsonObject {
  const { names } = kind;
  const metadata = objectField(next, 'metadata') ?? {};
  const version = stringField(metadata, 'resourceVersion') ?? '';
  if (version === '' || version === '0') {
    if (kind.allowsUnconditionalUpdate)
      return withMetadata(next, 'resourceVersion', String(stored.version));
    const error = invalidField('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid({ group: names.group, kind: names.plural }, stored.name, [error]);
  }
  if (!/^\d+$/.test(version))
    throw plainError(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
  if (version !== String(stored.version)) throw conflict(names, stored.name, objectModified);
  return next;
}

function withOldGeneration(next: JsonObject, oldMetadata: JsonObject): JsonObject {
  return withMetadata(next, 'generation', oldMetadata.generation);
}

/** Restores the metadata that an update never changes. */
function withImmutableMetadata(object: JsonObject, old: JsonObject): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  const kept: JsonObject = {
    ...metadata,
    ...(stringField(metadata, 'uid') ? {} : { uid: old.uid }),
    creationTimestamp: old.creationTimestamp,
    ...(old.deletionTimestamp === undefined ? {} : { deletionTimestamp: old.deletionTimestamp }),
    ...(old.deletionGracePeriodSeconds === undefined ||
    metadata.deletionGracePeriodSeconds !== undefined
      ? {}
      : { deletionGracePeriodSeconds: old.deletionGracePeriodSeconds }),
  };
  return { ...object, metadata: kept };
}

/** Returns whether an object that is being deleted has no finalizers left. */
export function isFinished(object: JsonObject): boolean {
  const metadata = objectField(object, 'metadata') ?? {};
  if (metadata.deletionTimestamp === undefined || stringsOf(metadata, 'finalizers').length > 0)
    return false;
  const grace = metadata.deletionGracePeriodSeconds;
  const spec = object.kind === 'Namespace' ? objectField(object, 'spec') : undefined;
  const holdsSpec = isJsonObject(spec) && stringsOf(spec, 'finalizers').length > 0;
  return (grace === undefined || grace === 0) && !holdsSpec;
}

/** When an update changes only the times of managedFields, keeps the old times, so that the object is unchanged. */
function withOldTimesIfSame(next: JsonObject, before: JsonObject): JsonObject {
  const [fields, old] = [managedFields(next), managedFields(before)];
  if (fields.length !== old.length || old.length === 0) return next;
  if (!deepEqual(fields.map(withoutTime), old.map(withoutTime))) return next;
  const restored = withMetadata(next, 'managedFields', old);
  return deepEqual(restored, before) ? restored : next;
}

function managedFields(object: JsonObject) {
  return listField(objectField(object, 'metadata') ?? {}, 'managedFields');
}

function withoutTime(entry: unknown): unknown {
  return isJsonObject(entry) ? withField(entry, 'time', undefined) : entry;
}
