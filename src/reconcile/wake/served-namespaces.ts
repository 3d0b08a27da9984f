import type { ServedNamespaces } from '../../definition/index.ts';
import type { CacheEvent } from '../../kube/roles.ts';
import { matchesGlob } from '../../util/glob.ts';
import { keyOf } from '../../util/object-key.ts';

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

/** The deletion of a resource by another runtime, which serves its namespace, may take so long before it is told of here. */
const patienceMs = 600_000;

/**
 * Knows what is being deleted with our finalizer in namespaces that the definition does not serve. Another runtime may serve them: nothing
 * is touched there. When nobody does, nobody but an administrator can bring these deletions to their end, who has to be told.
 */
export class StrandedResources {
  readonly #finalizer: string;
  /** By key: since when it is being deleted, in Unix ms. */
  readonly #since = new Map<string, number>();

  constructor(finalizer: string) {
    this.#finalizer = finalizer;
  }

  /** Takes an event of a namespace that is not served. */
  observe({ namespace, name, current }: CacheEvent): void {
    const { deletionTimestamp, finalizers } = current?.object.metadata ?? {};
    const key = keyOf(namespace, name);
    if (deletionTimestamp === undefined || finalizers?.includes(this.#finalizer) !== true)
      this.#since.delete(key);
    else this.#since.set(key, Date.parse(deletionTimestamp));
  }

  /** How many have waited for so long that nobody seems to care. */
  count(nowMs: number): number {
    return Iterator.from(this.#since.values())
      .filter((sinceMs) => nowMs - sinceMs >= patienceMs)
      .reduce((count) => count + 1, 0);
  }
}
