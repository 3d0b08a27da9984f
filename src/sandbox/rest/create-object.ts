import { invariant } from '../../util/homeostat-error.ts';
import type { JsonObject } from '../../util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import type { WriteOptions } from '../request/write-options.ts';
import { forbidden, plainError } from '../status/api-errors.ts';
import { storeKey } from '../store/stored-object.ts';
import { insertObject, withBirthFields, withoutServerFields } from './insert-object.ts';
import { readBody, withRequestNamespace } from './read-body.ts';
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
  const { fieldValidation } = options;
  const body = readBody(context, target, { text, contentType, fieldValidation });
  return answerWithWarnings(body.warnings, () => created(context, target, body.object, options));
}

function created(
  context: RestContext,
  target: Target,
  body: JsonObject,
  { manager, dryRun }: WriteOptions,
): RestAnswer {
  const { kind } = target;
  const requested = withRequestNamespace(target, withoutServerFields(body));
  const metadata = objectField(requested, 'metadata') ?? {};
  if (kind.servingPeriod?.allowsCreate === false) {
    const because = 'create not allowed while custom resource definition is terminating';
    throw forbidden(kind.names, stringField(metadata, 'name') ?? '', because);
  }
  const owned = kind.fieldManager('').update({ live: undefined, next: requested, manager });
  const namespace = kind.names.namespaced ? target.namespace : '';
  const isTaken = (name: string) =>
    context.store.get(kind.collection, storeKey(namespace, name)) !== undefined;
  const born = withBirthFields(context, owned, isTaken);
  if ((stringField(metadata, 'resourceVersion') ?? '') !== '')
    throw plainError('resourceVersion should not be set on objects to be created');
  const object = insertObject(context, target, born, { dryRun });
  return { code: 201, body: object, warnings: kind.warnings(object, undefined) };
}

/** POST of a review: the answer has a status, and nothing is stored. */
export function reviewObject(
  context: RestContext,
  target: Target,
  { text, contentType, options }: WriteRequest,
): RestAnswer {
  const { kind } = target;
  const { review } = kind;
  invariant(review !== undefined, `Nobody reviews ${kind.names.plural}`);
  const { manager, fieldValidation } = options;
  const body = readBody(context, target, { text, contentType, fieldValidation });
  const asked = withRequestNamespace(target, body.object);
  const owned = kind.fieldManager('').update({ live: undefined, next: asked, manager });
  return { code: 201, body: kind.normalise(review(owned)), warnings: body.warnings };
}
