import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import { type ServedKind, withMetadata } from '../kinds/index.ts';
import {
  pathSegment,
  textsOf,
  validateMetadata,
  validateMetadataUpdate,
} from '../metadata/index.ts';
import { conflict, invalid, invalidField, objectModified, plainFailure } from '../status/index.ts';
import type { StoredObject } from '../store/index.ts';
import { type RestContext, type Target, worldOf } from './rest-context.ts';
import { withOldTimesIfSame } from './same-but-times.ts';
import { inStorageVersion, inVersion, storageGroup } from './versions.ts';

export interface Replacement {
  readonly stored: StoredObject;
  /** With the managedFields that the write leads to. */
  readonly next: JsonObject;
  readonly dryRun: boolean;
  /** The uid that the writer says is a precondition; otherwise it is a field that may not change. */
  readonly guardsUid: boolean;
}

export interface Replaced {
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

/**
 * Stores a new state of an object, if it is one, and returns it. An object that waits for its
 * finalizers goes with the last of them.
 * @throws StatusError 409 for another uid or an older version, 422 for rules that it breaks.
 */
export function replaceObject(
  context: RestContext,
  target: Target,
  { stored, next, dryRun, guardsUid }: Replacement,
): Replaced {
  const { kind, subresource } = target;
  const { store } = context;
  const before = inVersion(kind, stored);
  const oldMetadata = objectField(before, 'metadata') ?? {};
  if (guardsUid) assertUid(kind, stored, next);
  const current = withCurrentVersion(kind, stored, next);
  const prepared = withKeptMetadata(
    kind.prepareUpdate(withOldGeneration(current, oldMetadata), before, subresource),
    oldMetadata,
  );
  const errors = [
    ...commonErrors(kind, prepared, oldMetadata),
    ...kind.validateUpdate(prepared, before, subresource),
  ];
  const tolerated = kind.tolerated(prepared);
  if (errors.length > 0) {
    const said = { group: storageGroup(kind), kind: saidKind(prepared, kind) };
    throw invalid(said, stored.name, errors).withWarnings(tolerated);
  }
  const warnings = [...tolerated, ...kind.warnings(prepared, before)];
  const admitted = kind.admit(prepared, before, worldOf(context));
  const settled = withMetadata(withOldTimesIfSame(admitted, before), 'selfLink', undefined);
  const normal = kind.normalise(settled);
  context.assertStorable?.(normal);
  // The server compares what it has merged, not what becomes of it in the store.
  const isSame = deepEqual(kind.isCustom ? settled : normal, before);
  if (isFinished(normal)) {
    if (!dryRun) store.delete(kind.collection, stored);
    return { object: normal, warnings };
  }
  if (dryRun || isSame) return { object: normal, warnings };
  const after = store.put(kind.collection, inStorageVersion(kind, normal));
  return { object: inVersion(kind, after), warnings };
}

/** What holds for all kinds; rules of the kind may say the same again, and so does the server. */
function commonErrors(kind: ServedKind, object: JsonObject, oldMetadata: JsonObject) {
  const metadata = objectField(object, 'metadata') ?? {};
  const { namespaced } = kind.names;
  const rules = { namespaced, nameRule: pathSegment, strictFinalizers: false };
  return [...validateMetadata(metadata, rules), ...validateMetadataUpdate(metadata, oldMetadata)];
}

/** An object of another kind is refused under the name that it says. */
function saidKind(object: JsonObject, kind: ServedKind): string {
  return stringField(object, 'kind') ?? kind.names.kind;
}

function assertUid(kind: ServedKind, stored: StoredObject, next: JsonObject): void {
  const uid = stringField(objectField(next, 'metadata') ?? {}, 'uid') ?? '';
  const found = stringField(objectField(stored.object, 'metadata') ?? {}, 'uid') ?? '';
  if (uid === '' || uid === found) return;
  const failed = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`;
  const because = `StorageError: invalid object, Code: 4, Key: ${registryKey(kind, stored)}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`;
  throw conflict(kind.names, stored.name, because);
}

/** Where the server's own store would have the object. */
function registryKey({ names, isCustom }: ServedKind, { namespace, name }: StoredObject): string {
  const collection = isCustom ? `${names.group}/${names.plural}` : names.plural;
  return `/registry/${collection}/${namespace === '' ? '' : `${namespace}/`}${name}`;
}

/** Checks the version that the writer has seen, and sets it where the kind does not ask for one. */
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
    throw plainFailure(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
  if (version !== String(stored.version)) throw conflict(names, stored.name, objectModified);
  return next;
}

function withOldGeneration(next: JsonObject, oldMetadata: JsonObject): JsonObject {
  return withMetadata(next, 'generation', oldMetadata.generation);
}

/** What an update never changes, whatever it says. */
function withKeptMetadata(object: JsonObject, old: JsonObject): JsonObject {
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

/** Waits for nothing any more. */
export function isFinished(object: JsonObject): boolean {
  const metadata = objectField(object, 'metadata') ?? {};
  if (metadata.deletionTimestamp === undefined || textsOf(metadata, 'finalizers').length > 0)
    return false;
  const grace = metadata.deletionGracePeriodSeconds;
  const spec = object.kind === 'Namespace' ? objectField(object, 'spec') : undefined;
  const holdsSpec = isJsonObject(spec) && textsOf(spec, 'finalizers').length > 0;
  return (grace === undefined || grace === 0) && !holdsSpec;
}
