import type { JsonObject } from '../../util/json.ts';
import { objectField, stringField } from '../json-fields.ts';
import type { WriteOptions } from '../request/index.ts';
import { forbidden, plainFailure } from '../status/index.ts';
import { storeKey } from '../store/index.ts';
import { insertObject, withBirthFields, withoutServerFields } from './insert-object.ts';
import { answerNoticing } from './noticed.ts';
import { readBody, withRequestNamespace } from './read-body.ts';
import type { RestAnswer, RestContext, Target } from './rest-context.ts';

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
  return answerNoticing(body.warnings, () => created(context, target, body.object, options));
}

function created(
  context: RestContext,
  target: Target,
  said: JsonObject,
  { manager, dryRun }: WriteOptions,
): RestAnswer {
  const { kind } = target;
  const wanted = withRequestNamespace(target, withoutServerFields(said));
  const metadata = objectField(wanted, 'metadata') ?? {};
  if (kind.life?.takesNew === false) {
    const because = 'create not allowed while custom resource definition is terminating';
    throw forbidden(kind.names, stringField(metadata, 'name') ?? '', because);
  }
  const owned = kind.fieldManager('').update({ live: undefined, next: wanted, manager });
  const namespace = kind.names.namespaced ? target.namespace : '';
  const isTaken = (name: string) =>
    context.store.get(kind.collection, storeKey(namespace, name)) !== undefined;
  const born = withBirthFields(context, owned, isTaken);
  if ((stringField(metadata, 'resourceVersion') ?? '') !== '')
    throw plainFailure('resourceVersion should not be set on objects to be created');
  const object = insertObject(context, target, born, { dryRun });
  return { code: 201, body: object, warnings: kind.warnings(object, undefined) };
}
