import type { JsonObject } from '#util/json.ts';
import { objectField, stringField, withField } from '../json-fields.ts';
import { withMetadata } from '../kinds/generation.ts';
import { alreadyExists, forbidden, invalid, notFound } from '../status/api-errors.ts';
import { StatusError } from '../status/status-error.ts';
import { storeKey } from '../store/stored-object.ts';
import {
  asIfStored,
  inStorageVersion,
  inVersion,
  objectLister,
  type RestContext,
  storageGroup,
  type Target,
} from './rest-context.ts';

/** Sets the name, uid and creation time of a new object. A generated name avoids existing names. */
export function withBirthFields(
  context: RestContext,
  object: JsonObject,
  isInUse: (name: string) => boolean = () => false,
): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...kept } = metadata;
  return {
    ...object,
    metadata: {
      ...kept,
      ...generatedName(context, metadata, isInUse),
      uid: context.newUid(),
      creationTimestamp: context.now(),
    },
  };
}

/** The number of attempts, as on the server. */
const maxNameAttempts = 8;

function generatedName(
  context: RestContext,
  metadata: JsonObject,
  isInUse: (name: string) => boolean,
): JsonObject {
  const name = stringField(metadata, 'name') ?? '';
  const prefix = stringField(metadata, 'generateName') ?? '';
  if (name !== '' || prefix === '') return {};
  let candidate = '';
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    candidate = prefix.slice(0, 58) + context.newSuffix();
    if (!isInUse(candidate)) break;
  }
  return { name: candidate };
}

/** A stored object, and warnings of policies about it. */
export interface Written {
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

/** A new object as policies change it, before the server completes its metadata. @throws StatusError */
export function mutateNew(
  context: RestContext,
  target: Target,
  object: JsonObject,
  { dryRun }: { readonly dryRun: boolean },
): JsonObject {
  const { admission, user, store } = context;
  if (admission === undefined) return object;
  const { namespaced } = target.kind.names;
  // The insert rejects it.
  if (namespaced && store.get('/namespaces', storeKey('', target.namespace)) === undefined)
    return object;
  const request = { operation: 'CREATE', target, oldObject: undefined, dryRun, user } as const;
  return admission.mutate({ ...request, object }) ?? object;
}

/**
 * Stores a new object and returns it in the version of its target.
 * @throws StatusError 404 or 403 for its namespace, 422 for invalid fields, 409 when it exists
 */
export function insertObject(
  context: RestContext,
  target: Target,
  object: JsonObject,
  { dryRun }: { readonly dryRun: boolean },
): Written {
  const { kind } = target;
  const { store, admission, user } = context;
  const name = stringField(objectField(object, 'metadata') ?? {}, 'name') ?? '';
  assertNamespace(context, target, name);
  const prepared = kind.prepareCreate(object);
  const errors = kind.validateCreate(prepared);
  if (errors.length > 0) {
    const kindName = stringField(prepared, 'kind') ?? kind.names.kind;
    throw invalid({ group: storageGroup(kind), kind: kindName }, name, errors);
  }
  const asked = { operation: 'CREATE', target, oldObject: undefined, dryRun, user } as const;
  const warnings = admission?.validate({ ...asked, object: prepared }) ?? [];
  const normal = kind.normalise(kind.admit(prepared, undefined, objectLister(context)));
  const key = storeKey(kind.names.namespaced ? target.namespace : '', name);
  const existing = store.get(kind.collection, key);
  if (existing !== undefined) throw alreadyExists(kind.names, name, isTerminating(existing.object));
  context.assertStorable?.(normal);
  if (dryRun) {
    const shown = asIfStored(kind, normal);
    return { object: withMetadata(shown, 'resourceVersion', undefined), warnings };
  }
  const stored = store.put(kind.collection, inStorageVersion(kind, normal));
  return { object: inVersion(kind, stored), warnings };
}

function isTerminating(object: JsonObject): boolean {
  return objectField(object, 'metadata')?.deletionTimestamp !== undefined;
}

/** @throws StatusError when the namespace does not exist or is being deleted */
function assertNamespace({ store }: RestContext, target: Target, name: string): void {
  const { namespace, kind } = target;
  if (!kind.names.namespaced) return;
  const found = store.get('/namespaces', storeKey('', namespace));
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace);
  const status = objectField(found.object, 'status') ?? {};
  if (stringField(status, 'phase') !== 'Terminating') return;
  const because = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { message, details } = forbidden(kind.names, name, because);
  const causes = [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ];
  const reason = 'Forbidden';
  throw new StatusError({ code: 403, reason, message, details: { ...details, causes } });
}

/** Removes fields that a client cannot set in a create. */
export function withoutServerFields(object: JsonObject): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  let kept: JsonObject = metadata;
  for (const name of [
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'uid',
    'selfLink',
  ])
    kept = withField(kept, name, undefined);
  return withField(object, 'metadata', kept);
}
