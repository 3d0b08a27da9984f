import { ObjectStore } from '#kube/cache/object-store.ts';
import type { StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type ModelChange, type ModelObject, ModelServer } from './model-server.ts';
import type { SeededRandom } from './seeded-random.ts';

export const allNames = ['a', 'b', 'c'];

/** A server and a store, and what all that move them must know of the past. */
export class CacheState {
  readonly random: SeededRandom;
  readonly #bySelector: boolean;
  readonly names: readonly string[];
  readonly server = new ModelServer();
  readonly store: ObjectStore;
  /** The latest version ever shown of each name. */
  readonly shown = new Map<string, number>();
  /** Uids whose deletion the store got from a list or a watch. */
  readonly deletedByWatch = new Set<string>();
  /** Uids that an answer said to be gone. */
  readonly gone = new Set<string>();
  /** History was rewritten and the store has not listed since: order means nothing for now. */
  rewritten = false;
  /** The reflector saw the server away: it lists anew, whatever versions say. */
  mustList = false;
  /** Versions may come twice. */
  wasRestored = false;
  schemaChanged = false;

  constructor(random: SeededRandom) {
    this.random = random;
    this.#bySelector = random.chance(0.7);
    // With few names, many requests meet on one.
    this.names = allNames.slice(0, 1 + random.below(3));
    this.store = new ObjectStore({
      selects: (object) => !this.#bySelector || object.metadata.labels?.selected === 'yes',
      onFault: (error) => {
        throw error;
      },
    });
  }

  pickName(): string {
    return this.random.pick(this.names) ?? 'a';
  }

  /** What somebody wants of an object. */
  wish() {
    return {
      ...(this.random.chance(0.6) ? { value: this.random.below(5) } : {}),
      ...(this.random.chance(0.4) ? { selected: this.random.chance(0.6) } : {}),
      ...(this.random.chance(0.2) ? { finalizer: this.random.chance(0.7) } : {}),
    };
  }

  selects(object: ModelObject): boolean {
    return !this.#bySelector || object.selected;
  }

  noteDeletion({ before, after }: ModelChange): void {
    if (!this.rewritten && before !== undefined && after === undefined) {
      this.deletedByWatch.add(before.uid);
    }
  }
}

export function stored(object: KubeObject): StoredObject {
  return { object, cluster: undefined, appliedBy: [] };
}

export function uidOf({ object }: StoredObject): string {
  return object.metadata.uid ?? '';
}

export function versionOf({ object }: StoredObject): number {
  return Number(object.metadata.resourceVersion);
}
