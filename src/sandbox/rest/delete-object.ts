import { deepEqual } from '#util/deep-equal.ts';
import type { JsonObject } from '#util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import { withMetadata } from '../kinds/generation.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import { stringsOf } from '../metadata/validate-metadata.ts';
import { conflict, notFound } from '../status/api-errors.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { DeleteOptions, Propagation } from './delete-options.ts';
import { isFinished } from './replace-object.ts';
import {
  inStorageVersion,
  inVersion,
  type RestAnswer,
  type RestContext,
  type Target,
} from './rest-context.ts';
import { findStored } from './update-object.ts';

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

/** DELETE of an object: deletes it at once, or sets deletionTimestamp when it has finalizers or a grace period. */
export function deleteObject(
  context: RestContext,
  target: Target,
  options: DeleteOptions,
): RestAnswer {
  const { kind, name } = target;
  const stored = findStored(context, target);
  if (stored === undefined) throw notFound(kind.names, name);
  const { remaining, warnings } = deleteStored(context, target, { stored, options });
  if (remaining !== undefined) return { code: 200, body: remaining, warnings };
  const metadata = objectField(stored.object, 'metadata') ?? {};
  const { group, plural } = kind.names;
  const details = {
    name,
    ...(group === '' ? {} : { group }),
    kind: plural,
    uid: stringField(metadata, 'uid') ?? '',
  };
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
  return { code: 200, body, warnings };
}

/** What a deletion leaves. */
export interface Deleted {
  /** The object, if it still exists. */
  readonly remaining: JsonObject | undefined;
  /** Of policies. */
  readonly warnings: readonly string[];
}

export interface Deletion {
  readonly stored: StoredObject;
  readonly options: DeleteOptions;
}

/** Deletes or marks an object. @throws StatusError 409 when a precondition fails, or that of a policy */
export function deleteStored(
  context: RestContext,
  target: Target,
  { stored, options }: Deletion,
): Deleted {
  const { kind } = target;
  assertPreconditions(target, stored, options);
  kind.assertDeletable(stored.name);
  const before = inVersion(kind, stored);
  const { admission, user } = context;
  const { dryRun } = options;
  const asked = { operation: 'DELETE', target, object: undefined, dryRun, user } as const;
  const warnings = admission?.validate({ ...asked, oldObject: before }) ?? [];
  const metadata = objectField(before, 'metadata') ?? {};
  const finalizers = finalizersFor(kind, stringsOf(metadata, 'finalizers'), options.propagation);
  const defaultGrace = kind.gracePeriodSeconds(before);
  const grace = defaultGrace === 0 ? 0 : (options.gracePeriodSeconds ?? defaultGrace);
  const markedObject = kind.prepareDelete(
    withDeletion(context, before, { finalizers, grace }),
    before,
  );
  if (isFinished(markedObject)) {
    if (!options.dryRun) {
      assertStorable(kind, before);
      context.store.delete(kind.collection, stored);
    }
    return { remaining: undefined, warnings };
  }
  if (options.dryRun || deepEqual(markedObject, before))
    return { remaining: markedObject, warnings };
  const marked = context.store.put(kind.collection, inStorageVersion(kind, markedObject));
  return { remaining: inVersion(kind, marked), warnings };
}

/**
 * A server encodes the object of its cache in the stored version before it deletes it: an object that does not fit into that version is
 * deleted in the stored one only. @throws StatusError
 */
function assertStorable(kind: ServedKind, object: JsonObject): void {
  inStorageVersion(kind, object);
}

function assertPreconditions({ kind }: Target, stored: StoredObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options;
  // Here the server writes the kind where it usually writes the plural.
  const resource = { group: kind.names.group, plural: kind.names.kind };
  const found = stringField(objectField(stored.object, 'metadata') ?? {}, 'uid') ?? '';
  if (uid !== undefined && uid !== found) {
    const because = `the UID in the precondition (${uid}) does not match the UID in record (${found}). The object might have been deleted and then recreated`;
    throw conflict(resource, stored.name, because);
  }
  if (resourceVersion !== undefined && resourceVersion !== String(stored.version)) {
    const because = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${stored.version}). The object might have been modified`;
    throw conflict(resource, stored.name, because);
  }
}

/** The propagation policy sets the finalizers of the garbage collector; others are kept. */
function finalizersFor(
  { orphansByDefault }: ServedKind,
  finalizers: readonly string[],
  propagation: Propagation | undefined,
): readonly string[] {
  const others = finalizers.filter(
    (name) => name !== orphanFinalizer && name !== foregroundFinalizer,
  );
  switch (propagation) {
    case undefined:
      return orphansByDefault && others.length === finalizers.length
        ? [...others, orphanFinalizer]
        : finalizers;
    case 'Background':
      return others;
    case 'Foreground':
      return [...others, foregroundFinalizer];
    case 'Orphan':
      return [...others, orphanFinalizer];
  }
}

interface Marking {
  readonly finalizers: readonly string[];
  readonly grace: number;
}

function withDeletion(
  context: RestContext,
  object: JsonObject,
  { finalizers, grace }: Marking,
): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  const kept = finalizers.length === 0 ? undefined : finalizers;
  const markedObject = withMetadata(object, 'finalizers', kept);
  const { generation, deletionTimestamp, deletionGracePeriodSeconds: old } = metadata;
  if (deletionTimestamp !== undefined) {
    // A grace period can be shortened, never extended.
    const isShorter = typeof old !== 'number' || grace < old;
    return isShorter
      ? withMetadata(markedObject, 'deletionGracePeriodSeconds', grace)
      : markedObject;
  }
  const counted =
    typeof generation === 'number'
      ? withMetadata(markedObject, 'generation', generation + 1)
      : markedObject;
  const timed = withMetadata(counted, 'deletionTimestamp', context.later(grace));
  return withMetadata(timed, 'deletionGracePeriodSeconds', grace);
}
