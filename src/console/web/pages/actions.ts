import type { KubeObject } from '#util/kube-object.ts';
import { errorOfResponse } from '../backend-error.ts';
import type { KubeRequest } from '../contract.ts';
import { placeOf } from '../model/object-summary.ts';
import { objectPath } from '../store/kind-index.ts';
import type { View } from '../view.ts';
import { kindOfRef } from './kinds.ts';

export interface Annotating {
  /** `null` removes one. */
  readonly annotations: Readonly<Record<string, string | null>>;
  /** The message when it is done. */
  readonly done: string;
}

/** Sets annotations of an object. @throws BackendError */
export async function annotate(
  view: View,
  object: KubeObject,
  { annotations, done }: Annotating,
): Promise<string> {
  await send(view, object, { method: 'PATCH', body: { metadata: { annotations } } });
  return done;
}

/** Deletes an object, not another one of the same name. @throws BackendError */
export async function remove(view: View, object: KubeObject): Promise<string> {
  const { uid = '' } = object.metadata;
  await send(view, object, {
    method: 'DELETE',
    body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } },
  });
  return `${object.kind} "${placeOf(object.metadata)}" is deleted`;
}

async function send(
  { store, backend }: View,
  object: KubeObject,
  request: Omit<KubeRequest, 'path'>,
): Promise<void> {
  const kind = store.kindOf(kindOfRef({ ...object, ...object.metadata }));
  if (kind === undefined) throw new Error(`The API server does not serve ${object.kind}`);
  const response = await backend.request(
    { ...request, path: objectPath(kind, object.metadata) },
    new AbortController().signal,
  );
  const error = errorOfResponse(response);
  if (error !== undefined) throw error;
}
