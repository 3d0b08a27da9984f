import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** For a Secret only the sizes of its values, as in kubectl, and not the copy of the object that kubectl stores. */
export function withoutSecrets(object: KubeObject): KubeObject {
  const { apiVersion, kind, data, metadata } = object;
  if (apiVersion !== 'v1' || kind !== 'Secret') return object;
  const sizes = Object.entries(isJsonObject(data) ? data : {}).map(([key, value]) => {
    return [key, `${Buffer.byteLength(String(value), 'base64')} bytes`];
  });
  return {
    ...object,
    metadata: { ...metadata, ...withoutLastApplied(metadata) },
    ...(isJsonObject(data) && { data: Object.fromEntries(sizes) }),
  };
}

function withoutLastApplied({ annotations }: KubeObject['metadata']) {
  if (annotations?.[lastApplied] === undefined) return {};
  const { [lastApplied]: _, ...others } = annotations;
  return { annotations: others };
}
