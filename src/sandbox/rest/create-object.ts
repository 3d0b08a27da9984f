import { invariant } from '#util/homeostat-error.ts';
import type { JsonObject } from '#util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import type { WriteOptions } from '../request/write-options.ts';
import { forbidden, plainError } from '../status/api-errors.ts';
import { storeKey } from '../store/stored-object.ts';
import {
  insertObject,
  mutateNew,
  type Written,
  withBirthFields,
  withoutServerFields,
} from './insert-object.ts';
import { decodeBody, readBody, withRequestNamespace } from './read-body.ts';
import {
  answerWithWarnings,
  type RestAnswer,
  type RestContext,
  type Target,
} from './rest-context.ts';

export interface WriteRequest {
  readonly text: string;
  readonly contentType: string;
  readonly options: WriteOptions;
}

/** POST to a collection. */
export function createObject(
  context: RestContext,
  target: Target,
  { text, contentType, options }: WriteRequest,
): RestAnswer {
  const { kind } = target;
  const { manager, dryRun, fieldValidation } = options;
  const body = readBody(context, target, { text, contentType, fieldValidation });
  return answerWithWarnings(body.warnings, () => {
    const requested = requestedObject(target, body.object);
    const owned = kind.fieldManager('').update({ live: undefined, next: requested, manager });
    const { object, warnings } = insertRequested(context, target, owned, { dryRun });
    const all = [...kind.warnings(object, undefined), ...warnings];
    return { code: 201, body: object, warnings: all };
  });
}

/**
 * What a strict POST to a collection would store, without field owners. Stores nothing.
 * @throws StatusError as the POST does
 */
export function tryCreate(context: RestContext, target: Target, object: JsonObject): JsonObject {
  const { kind } = target;
  const text = () => JSON.stringify(object);
  const body = decodeBody(kind, object, { fieldValidation: 'Strict', text }).object;
  if (kind.review !== undefined)
    return kind.normalise(kind.review(withRequestNamespace(target, body)));
  const options = { dryRun: true };
  return insertRequested(context, target, requestedObject(target, body), options).object;
}

/** The object of a body, as the client may set it. @throws StatusError while the kind is being removed */
function requestedObject(target: Target, body: JsonObject): JsonObject {
  const { kind } = target;
  const requested = withRequestNamespace(target, withoutServerFields(body));
  if (kind.servingPeriod?.allowsCreate !== false) return requested;
  const because = 'create not allowed while custom resource definition is terminating';
  const name = stringField(objectField(requested, 'metadata') ?? {}, 'name') ?? '';
  throw forbidden(kind.names, name, because);
}

function insertRequested(
  context: RestContext,
  target: Target,
  requested: JsonObject,
  options: { readonly dryRun: boolean },
): Written {
  const { kind } = target;
  const namespace = kind.names.namespaced ? target.namespace : '';
  const isTaken = (name: string) =>
    context.store.get(kind.collection, storeKey(namespace, name)) !== undefined;
  const mutated = mutateNew(context, target, requested, options);
  const born = withBirthFields(context, mutated, isTaken);
  const { resourceVersion } = objectField(requested, 'metadata') ?? {};
  if (typeof resourceVersion === 'string' && resourceVersion !== '')
    throw plainError('resourceVersion should not be set on objects to be created');
  return insertObject(context, target, born, options);
}

/** POST of a review: the answer has a status, and nothing is stored. */
export function reviewObject(
  context: RestContext,
  target: Target,
  { text, contentType, options }: WriteRequest,
): RestAnswer {
  const { kind } = target;
  const { review } = kind;
  invariant(review !== undefined, `No reviewer for ${kind.names.plural}`);
  const { manager, fieldValidation } = options;
  const body = readBody(context, target, { text, contentType, fieldValidation });
  const asked = withRequestNamespace(target, body.object);
  const owned = kind.fieldManager('').update({ live: undefined, next: asked, manager });
  return { code: 201, body: kind.normalise(review(owned)), warnings: body.warnings };
}
