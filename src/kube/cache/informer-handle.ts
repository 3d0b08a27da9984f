import type { KubeObject } from '../../util/kube-object.ts';
import { KubeError } from '../kube-error.ts';
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
  readonly #released = new AbortController();
  readonly #subscriptions = new Set<() => void>();

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

  whenSynced(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const ends = [signal, this.#released.signal, this.#shared.stopped];
      const settle = (act: () => void) => {
        unsubscribe();
        for (const end of ends) end.removeEventListener('abort', onAbort);
        act();
      };
      const onAbort = () => settle(() => reject(signal.aborted ? signal.reason : releasedError()));
      const onState = ({ kind }: InformerState) => {
        if (kind === 'synced') settle(resolve);
      };
      const unsubscribe = this.#shared.onState(onState);
      for (const end of ends) end.addEventListener('abort', onAbort, { once: true });
      if (ends.some(({ aborted }) => aborted)) onAbort();
      else onState(this.#shared.state);
    });
  }

  release(): void {
    if (this.#released.signal.aborted) return;
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#subscriptions.clear();
    this.#released.abort();
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

function releasedError(): KubeError {
  return new KubeError('aborted', 'The informer was released before it was synced', { status: 0 });
}
