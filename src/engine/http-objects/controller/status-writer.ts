import type { PassToken } from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { controllerName, statusManager } from '../names.ts';
import type { HttpObjectPorts } from './ports.ts';

const flow = { name: controllerName, priority: 'status' } as const;

/** Writes a status if the object does not have it. Returns the object as stored; undefined: it had the status. @throws KubeError */
export async function writeStatus(
  object: KubeObject,
  status: JsonObject,
  {
    cluster,
    pass,
    signal,
  }: {
    readonly cluster: HttpObjectPorts['cluster'];
    readonly pass: PassToken;
    readonly signal: AbortSignal;
  },
): Promise<KubeObject | undefined> {
  const live = isJsonObject(object.status) ? object.status : {};
  if (deepEqual(live, status)) return undefined;
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid = '' } = metadata;
  const { stored } = await cluster.apply(
    {
      ...{ apiVersion, kind },
      metadata: { name, uid, ...(namespace !== undefined && { namespace }) },
      status,
    },
    { flow, pass, fieldManager: statusManager, force: true, subresource: 'status' },
    signal,
  );
  return stored.object;
}
