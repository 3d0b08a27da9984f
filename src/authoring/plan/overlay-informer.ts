import type { CacheEvent, CacheIndex, Informer, StoredObject } from '#kube/roles.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';

/** An informer whose store has some other objects in place of those in the cluster, or in addition to them. */
export class OverlayInformer implements Informer {
  readonly #base: Informer;
  readonly #changed: ReadonlyMap<string, StoredObject>;

  constructor(base: Informer, changed: readonly StoredObject[]) {
    this.#base = base;
    this.#changed = new Map(changed.map((stored) => [keyOfStored(stored), stored]));
  }

  get query() {
    return this.#base.query;
  }

  get state() {
    return this.#base.state;
  }

  get(namespace: string | undefined, name: string): StoredObject | undefined {
    return this.#changed.get(keyOf(namespace, name)) ?? this.#base.get(namespace, name);
  }

  *list(): Iterable<StoredObject> {
    yield* this.#changed.values();
    for (const stored of this.#base.list()) if (!this.#isChanged(stored)) yield stored;
  }

  index(name: string, valuesOf: (object: KubeObject) => readonly string[]): CacheIndex {
    const base = this.#base.index(name, valuesOf);
    return {
      get: (value) => [
        ...[...this.#changed.values()].filter(({ object }) => valuesOf(object).includes(value)),
        ...base.get(value).filter((stored) => !this.#isChanged(stored)),
      ],
    };
  }

  subscribe(listener: (event: CacheEvent) => void): () => void {
    for (const current of this.#changed.values()) {
      const { namespace = '', name } = current.object.metadata;
      listener({ namespace, name, current, initial: true });
    }
    return this.#base.subscribe((event) => {
      if (!this.#changed.has(keyOf(event.namespace, event.name))) listener(event);
    });
  }

  onState(listener: Parameters<Informer['onState']>[0]): () => void {
    return this.#base.onState(listener);
  }

  release(): void {
    this.#base.release();
  }

  #isChanged(stored: StoredObject): boolean {
    return this.#changed.has(keyOfStored(stored));
  }
}

function keyOfStored({ object: { metadata } }: StoredObject): string {
  return keyOf(metadata.namespace, metadata.name);
}
