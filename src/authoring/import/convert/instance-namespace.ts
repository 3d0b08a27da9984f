import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** The namespaces of objects. */
export interface Namespaces {
  /** That of most objects: it becomes the namespace of the resource. Undefined: no object names one, or there is none with most. */
  readonly own: string | undefined;
  /** Others, in which objects are. */
  readonly others: readonly string[];
}

/** Finds the namespaces of objects: of themselves, and if none has one, of subjects and references that name them. Pure. */
export function findNamespaces(objects: readonly KubeObject[]): Namespaces {
  const counts = new Map<string, number>();
  for (const { metadata } of objects)
    if (metadata.namespace !== undefined)
      counts.set(metadata.namespace, (counts.get(metadata.namespace) ?? 0) + 1);
  const names = new Set(objects.map(({ metadata }) => metadata.name));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) {
    const referred = new Set(objects.flatMap((object) => referredNamespaces(object, names)));
    return { own: referred.size === 1 ? [...referred][0] : undefined, others: [] };
  }
  const own = [...counts].find(([, count]) => count * 2 > total)?.[0];
  return { own, others: [...counts.keys()].filter((name) => name !== own) };
}

/** The namespaces beside names of the objects: `{ kind: ServiceAccount, name: web, namespace: shop }`. */
function referredNamespaces(value: unknown, names: ReadonlySet<string>): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => referredNamespaces(item, names));
  if (!isJsonObject(value)) return [];
  const { name, namespace } = value;
  const isOwn = typeof name === 'string' && names.has(name) && typeof namespace === 'string';
  return [
    ...(isOwn ? [namespace] : []),
    ...Object.values(value).flatMap((each) => referredNamespaces(each, names)),
  ];
}
