import type { AccessRight, RightsWatcher } from '#kube/roles.ts';
import { isSharedByMany } from '../watch/resource-queue.ts';

interface Missing {
  readonly right: AccessRight;
  readonly keys: Set<string>;
  readonly cancel: () => void;
}

/** The missing rights of a definition's resources. A granted right enqueues all resources that failed without it. */
export class MissingRights {
  readonly #cluster: RightsWatcher;
  readonly #onGranted: (key: string, shared: boolean) => void;
  readonly #missing = new Map<string, Missing>();

  /** `onGranted`: called when a missing right is granted. `shared`: many resources missed it. */
  constructor(cluster: RightsWatcher, onGranted: (key: string, shared: boolean) => void) {
    this.#cluster = cluster;
    this.#onGranted = onGranted;
  }

  /** All missing rights. */
  get all(): readonly AccessRight[] {
    return [...this.#missing.values()].map(({ right }) => right);
  }

  /** The number of resources that miss a right. */
  sharersOf(right: AccessRight): number {
    return this.#missing.get(topicOf(right))?.keys.size ?? 0;
  }

  /** Replaces the missing rights of a resource. */
  retain(key: string, rights: readonly AccessRight[]): void {
    if (rights.length === 0 && this.#missing.size === 0) return;
    const wanted = new Map(rights.map((right) => [topicOf(right), right]));
    for (const [topic, missing] of this.#missing) {
      if (!wanted.has(topic)) this.#leave(topic, missing, key);
    }
    for (const [topic, right] of wanted) this.#join(topic, right, key);
  }

  stop(): void {
    for (const { cancel } of this.#missing.values()) cancel();
    this.#missing.clear();
  }

  #join(topic: string, right: AccessRight, key: string): void {
    const known = this.#missing.get(topic);
    if (known !== undefined) {
      known.keys.add(key);
      return;
    }
    // Of the first object only: a thousand names would cause a thousand reviews. A rule without names permits it, too.
    const cancel = this.#cluster.onGranted(right, () => this.#granted(topic));
    const { name: _, ...anyName } = right;
    this.#missing.set(topic, { right: anyName, keys: new Set([key]), cancel });
  }

  #leave(topic: string, { keys, cancel }: Missing, key: string): void {
    if (!keys.delete(key) || keys.size > 0) return;
    cancel();
    this.#missing.delete(topic);
  }

  #granted(topic: string): void {
    const keys = this.#missing.get(topic)?.keys ?? new Set();
    this.#missing.delete(topic);
    for (const key of keys) this.#onGranted(key, isSharedByMany(keys));
  }
}

function topicOf({ cluster, verb, group, resource, subresource, namespace }: AccessRight): string {
  return JSON.stringify([cluster, verb, group, resource, subresource, namespace]);
}
