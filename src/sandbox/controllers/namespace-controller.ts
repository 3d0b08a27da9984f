import { objectField, withField } from '../json-fields.ts';
import { textsOf } from '../metadata/index.ts';
import type { RestContext } from '../rest/index.ts';
import { type StoredObject, type StoreEvent, storeKey } from '../store/index.ts';
import { ObjectWriter } from './object-writer.ts';
import { isTerminating } from './owner-index.ts';

const namespaces = '/namespaces';

/** Empties namespaces that are deleted, and lets them go when they are empty. */
export class NamespaceController {
  readonly #context: RestContext;
  readonly #writer: ObjectWriter;

  constructor(context: RestContext) {
    this.#context = context;
    this.#writer = new ObjectWriter(context);
  }

  /** Begins to follow the store; returns a function that ends it. */
  start(): () => void {
    return this.#context.store.subscribe((event) => this.#onEvent(event));
  }

  #onEvent({ collection, after, last }: StoreEvent): void {
    const name = collection === namespaces ? last.name : last.namespace;
    // A namespace that begins to go is emptied; an object that is gone may have been its last.
    if (name === '' || (collection !== namespaces && after !== undefined)) return;
    const namespace = this.#context.store.get(namespaces, storeKey('', name));
    if (namespace === undefined || !isTerminating(namespace)) return;
    if (collection === namespaces) this.#empty(name);
    if (this.#isEmpty(name)) this.#release(namespace);
  }

  #collections(): readonly string[] {
    const namespaced = this.#context.kinds.all().filter(({ names }) => names.namespaced);
    return [...new Set(namespaced.map(({ collection }) => collection))];
  }

  #empty(namespace: string): void {
    for (const collection of this.#collections())
      for (const stored of this.#objectsIn(collection, namespace))
        if (!isTerminating(stored))
          this.#writer.delete({ collection, key: stored.key }, 'Background');
  }

  #isEmpty(namespace: string): boolean {
    return this.#collections().every(
      (collection) => this.#objectsIn(collection, namespace).length === 0,
    );
  }

  #objectsIn(collection: string, namespace: string): readonly StoredObject[] {
    return this.#context.store.list(collection).filter((stored) => stored.namespace === namespace);
  }

  #release({ key }: StoredObject): void {
    const { store } = this.#context;
    const current = store.get(namespaces, key);
    if (current === undefined) return;
    const spec = objectField(current.object, 'spec') ?? {};
    const others = textsOf(spec, 'finalizers').filter((name) => name !== 'kubernetes');
    const metadata = objectField(current.object, 'metadata') ?? {};
    if (others.length === 0 && textsOf(metadata, 'finalizers').length === 0) {
      store.delete(namespaces, current);
      return;
    }
    if (others.length === textsOf(spec, 'finalizers').length) return;
    const finalizers = others.length === 0 ? undefined : others;
    const emptied = withField(spec, 'finalizers', finalizers);
    store.put(namespaces, withField(current.object, 'spec', emptied));
  }
}
