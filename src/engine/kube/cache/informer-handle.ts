import type { KubeObject } from '#util/kube-object.ts';
import type {
  CacheEvent,
  CacheIndex,
  Informer,
  InformerQuery,
  InformerState,
  StoredObject,
} from '../roles.ts';
import type { SharedInformer } from './shared-informer.ts';

/** A handle on a shared informer. Its subscriptions end with its release. */
export class InformerHandle implements Informer {
  readonly #shared: SharedInformer;
  readonly #onRelease: () => void;
  readonly #subscriptions = new Set<() => void>();
  #isReleased = false;

  constructor(shared: SharedInformer, onRelease: () => void) {
    this.#shared = shared;
    this.#onRelease = onRelease;
  }

  get query(): InformerQuery {
    return this.#shared.resolved.query;
  }

  get state(): InformerState {
    return this.#shared.state;
  }

  get(namespace: string | undefined, name: string): StoredObject | undefined {
    return this.#shared.store.get(namespace, name);
  }

  list(): Iterable<StoredObject> {
    return this.#shared.store.list();
  }

  index(name: string, valuesOf: (object: KubeObject) => readonly string[]): CacheIndex {
    return this.#shared.store.index(name, valuesOf);
  }

  subscribe(listener: (event: CacheEvent) => void): () => void {
    return this.#track(this.#shared.store.subscribe(listener));
  }

  onState(listener: (state: InformerState) => void): () => void {
    return this.#track(this.#shared.onState(listener));
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#subscriptions.clear();
    this.#onRelease();
  }

  #track(unsubscribe: () => void): () => void {
    this.#subscriptions.add(unsubscribe);
    return () => {
      this.#subscriptions.delete(unsubscribe);
      unsubscribe();
    };
  }
}
