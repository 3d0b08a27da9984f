import type { JsonObject } from '#util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import type { WriteOptions } from '../request/write-options.ts';
import { badRequest, conflict, notFound } from '../status/api-errors.ts';
import { storeKey } from '../store/stored-object.ts';
import type { WriteRequest } from './create-object.ts';
import { insertObject, mutateNew, withBirthFields } from './insert-object.ts';
import { readBody, withRequestNamespace } from './read-body.ts';
import { replaceObject } from './replace-object.ts';
import {
  answerWithWarnings,
  inVersion,
  type RestAnswer,
  type RestContext,
  type Target,
} from './rest-context.ts';

/** PUT of an object or its status. */
export function updateObject(
  context: RestContext,
  target: Target,
  { text, contentType, options }: WriteRequest,
): RestAnswer {
  const { fieldValidation } = options;
  const body = readBody(context, target, { text, contentType, fieldValidation });
  return answerWithWarnings(body.warnings, () => updated(context, target, body.object, options));
}

function updated(
  context: RestContext,
  target: Target,
  body: JsonObject,
  { manager, dryRun }: WriteOptions,
): RestAnswer {
  const { kind, subresource } = target;
  assertTargetName(target, body);
  const next = withRequestNamespace(target, body);
  const stored = findStored(context, target);
  const fields = kind.fieldManager(subresource);
  if (stored === undefined) {
    assertCreatable(target, next);
    const owned = fields.update({ live: undefined, next, manager });
    const mutated = mutateNew(context, target, owned, { dryRun });
    const born = withBirthFields(context, mutated);
    const { object, warnings } = insertObject(context, target, born, { dryRun });
    return { code: 201, body: object, warnings };
  }
  const live = inVersion(kind, stored);
  const owned = fields.update({ live, next, manager });
  const replacement = { stored, next: owned, dryRun, isUidPrecondition: true };
  const { object, warnings } = replaceObject(context, target, replacement);
  return { code: 200, body: object, warnings };
}

/** The stored object of a target. */
export function findStored({ store }: RestContext, { kind, namespace, name }: Target) {
  return store.get(kind.collection, storeKey(kind.names.namespaced ? namespace : '', name));
}

function assertCreatable({ kind, name, subresource }: Target, next: JsonObject): void {
  const uid = stringField(objectField(next, 'metadata') ?? {}, 'uid') ?? '';
  if (uid !== '') {
    const because = `Precondition failed: UID in precondition: ${uid}, UID in object meta: `;
    throw conflict(kind.names, name, because);
  }
  if (!kind.createsOnUpdate || subresource !== '') throw notFound(kind.names, name);
}

/** @throws StatusError 400 when the name of the object differs from the URL, or is missing */
export function assertTargetName(target: Target, object: JsonObject): void {
  const bodyName = stringField(objectField(object, 'metadata') ?? {}, 'name') ?? '';
  if (bodyName === target.name) return;
  throw badRequest(
    bodyName === ''
      ? `the name of the object (${target.name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${bodyName}) does not match the name on the URL (${target.name})`,
  );
}
