import { fieldChanges } from '#plan';
import type { RenderedChild } from '#render';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/**
 * How rendered objects differ from those that are expected, for people.
 * @param namespace of objects without one
 */
export function renderedDifferences(
  expected: readonly KubeObject[],
  rendered: readonly RenderedChild[],
  namespace: string,
): readonly string[] {
  const keyOf = ({ kind, metadata }: KubeObject) =>
    `${kind} ${metadata.namespace ?? namespace} ${metadata.name}`;
  const found = new Map(rendered.map(({ manifest }) => [keyOf(manifest), manifest]));
  return expected.flatMap((object) => {
    const is = found.get(keyOf(object));
    if (is === undefined) return [`${nameOf(object)} is not rendered`];
    return fieldChanges(comparable(object), comparable(is)).map(
      ({ path }) => `${nameOf(object)}: ${path} differs`,
    );
  });
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} "${metadata.name}"`;
}

/** Without the namespace, which is a part of the key, and with the texts of a Secret as the server stores them. */
function comparable(object: KubeObject): KubeObject {
  const { namespace: _, ...metadata } = object.metadata;
  const { stringData, ...rest } = object;
  if (object.kind !== 'Secret' || !isJsonObject(stringData)) return { ...object, metadata };
  const encoded = Object.entries(stringData).map(([key, text]) => [
    key,
    Buffer.from(String(text)).toString('base64'),
  ]);
  const data = { ...(isJsonObject(rest.data) ? rest.data : {}), ...Object.fromEntries(encoded) };
  return { ...rest, metadata, data } as KubeObject;
}
