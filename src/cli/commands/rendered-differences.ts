import { fieldChanges } from '../../runtime/index.ts';
import type { RenderedChild } from '../../simulation/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';

/** How rendered objects differ from those that are expected, for people. Namespaces are not compared. */
export function renderedDifferences(
  expected: readonly KubeObject[],
  rendered: readonly RenderedChild[],
): readonly string[] {
  const found = new Map(rendered.map(({ manifest }) => [keyOf(manifest), manifest]));
  return expected.flatMap((object) => {
    const is = found.get(keyOf(object));
    if (is === undefined) return [`${keyOf(object)} is not rendered`];
    return fieldChanges(withoutNamespace(object), withoutNamespace(is)).map(
      ({ path }) => `${keyOf(object)}: ${path} differs`,
    );
  });
}

function keyOf({ kind, metadata }: KubeObject): string {
  return `${kind} "${metadata.name}"`;
}

function withoutNamespace(object: KubeObject): KubeObject {
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
