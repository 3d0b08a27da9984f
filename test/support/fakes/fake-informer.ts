import { ObjectStore } from '#kube/cache/object-store.ts';
import type {
  CacheEvent,
  CacheIndex,
  Informer,
  InformerQuery,
  InformerState,
  KubeError,
  StoredObject,
} from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { gvkKey } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { matchesRequirements } from '#util/label-selector.ts';
import { parseLabelSelector } from '#util/label-selector-text.ts';
import type { FakeServer, ServerEvent } from './fake-server.ts';

/** The shared part: one store per query, on the runtime's own cache. */
export class FakeWatch {
  readonly query: InformerQuery;
  readonly store: ObjectStore;
  readonly #listeners = new Set<(state: InformerState) => void>();
  #state: InformerState = { kind: 'waiting' };
  uses = 0;

  constructor(query: InformerQuery) {
    this.query = query;
    const onFault = (error: unknown) => {
      throw error;
    };
    this.store = new ObjectStore({ selects: (object) => this.selects(object), onFault });
  }

  get state(): InformerState {
    return this.#state;
  }

  selects({ apiVersion, kind, metadata }: KubeObject): boolean {
    const { gvk, namespace, labelSelector, fieldSelector } = this.query;
    return (
      gvkKey(gvk) === `${apiVersion}/${kind}` &&
      (namespace === undefined || namespace === metadata.namespace) &&
      (labelSelector === undefined ||
        matchesRequirements(parseLabelSelector(labelSelector), metadata.labels)) &&
      (fieldSelector === undefined || fieldSelector === `metadata.name=${metadata.name}`)
    );
  }

  /** Lists, or fails to. */
  sync(server: FakeServer, error: KubeError | undefined): void {
    if (this.#state.kind === 'synced') return;
    if (error !== undefined) {
      this.#enter({ kind: 'failing', error });
      return;
    }
    this.#list(server);
    this.#enter({ kind: 'synced' });
  }

  /** The kind cannot be watched any more. */
  lose(error: KubeError): void {
    this.#enter({ kind: 'failing', error });
  }

  /** Lists again, after a watch that ended. */
  relist(server: FakeServer): void {
    if (this.#state.kind === 'synced') this.#list(server);
  }

  #list(server: FakeServer): void {
    const page = server.list(this.query.gvk).filter(({ object }) => this.selects(object));
    const listing = this.store.startList();
    listing.add(server.version, page);
    listing.finish();
  }

  tell({ before, after, deleted }: ServerEvent): void {
    if (this.#state.kind !== 'synced') return;
    const wasSelected = before !== undefined && this.selects(before.object);
    if (!deleted && this.selects(after.object)) this.store.changed(after);
    else if (wasSelected) this.store.deleted(after);
  }

  onState(listener: (state: InformerState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #enter(state: InformerState): void {
    if (deepEqual(state, this.#state)) return;
    this.#state = state;
    for (const listener of [...this.#listeners]) listener(state);
  }
}

/** One use of a watch. */
export class FakeInformer implements Informer {
  readonly #watch: FakeWatch;
  readonly #onRelease: () => void;
  #isReleased = false;

  constructor(watch: FakeWatch, onRelease: () => void) {
    this.#watch = watch;
    this.#onRelease = onRelease;
  }

  get query(): InformerQuery {
    return this.#watch.query;
  }

  get state(): InformerState {
    return this.#watch.state;
  }

  get(namespace: string | undefined, name: string): StoredObject | undefined {
    return this.#watch.store.get(namespace, name);
  }

  list(): Iterable<StoredObject> {
    return this.#watch.store.list();
  }

  index(name: string, valuesOf: (object: KubeObject) => readonly string[]): CacheIndex {
    return this.#watch.store.index(name, valuesOf);
  }

  subscribe(listener: (event: CacheEvent) => void): () => void {
    return this.#watch.store.subscribe(listener);
  }

  onState(listener: (state: InformerState) => void): () => void {
    return this.#watch.onState(listener);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#onRelease();
  }
}
