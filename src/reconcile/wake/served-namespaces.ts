import type { ServedNamespaces } from '../../definition/index.ts';
import { matchesGlob } from '../../util/glob.ts';

/**
 * Says of a namespace whether resources in it are served (`controller.namespaces`). In others nothing is looked at or touched: they may
 * be those of another runtime. The guarded ones, where the runtime and its definitions live, are served only where `include` names them
 * in full: a resource there could write what the runtime works with.
 */
export function servesNamespace(
  served: ServedNamespaces | undefined,
  guarded: ReadonlySet<string> = new Set(),
): (namespace: string) => boolean {
  const { include, exclude = [] } = served ?? {};
  return (namespace) =>
    namespace === '' ||
    ((guarded.has(namespace)
      ? include?.includes(namespace) === true
      : include === undefined || matchesGlob(namespace, include)) &&
      !matchesGlob(namespace, exclude));
}
