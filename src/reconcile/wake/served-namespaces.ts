import type { ServedNamespaces } from '../../definition/index.ts';
import { matchesGlob } from '../../util/glob.ts';

/**
 * Says of a namespace whether resources in it are served (`controller.namespaces`). In others nothing is looked at or touched: they may
 * be those of another runtime.
 */
export function servesNamespace(
  served: ServedNamespaces | undefined,
): (namespace: string) => boolean {
  if (served === undefined) return () => true;
  const { include, exclude } = served;
  return (namespace) =>
    namespace === '' ||
    ((include === undefined || matchesGlob(namespace, include)) &&
      !matchesGlob(namespace, exclude));
}
