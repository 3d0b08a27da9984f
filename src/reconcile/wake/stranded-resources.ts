import type { CacheEvent } from '../../kube/roles.ts';
import { keyOf } from '../../util/object-key.ts';

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
