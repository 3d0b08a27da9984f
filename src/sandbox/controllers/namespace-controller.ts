import type { StoreEvent } from '../store/object-store.ts';
import { type StoredObject, storeKey } from '../store/stored-object.ts';
import type { ControllerClient } from './controller-client.ts';
import { isTerminating } from './owner-index.ts';

const namespaces = '/namespaces';

/** The objects that every namespace has, by collection. */
const defaultObjects = new Map([
  ['/serviceaccounts', { metadata: { name: 'default' } }],
  [
    '/configmaps',
    {
      metadata: {
        name: 'kube-root-ca.crt',
        annotations: {
          'kubernetes.io/description': 'The sandbox serves plain HTTP and has no certificate.',
        },
      },
      data: { 'ca.crt': '' },
    },
  ],
]);

/** Deletes the content of namespaces that are being deleted, then removes their finalizer. */
export class NamespaceController {
  readonly #client: ControllerClient;

  constructor(client: ControllerClient) {
    this.#client = client;
  }

  /** Subscribes to the store; returns the unsubscribe function. */
  start(): () => void {
    return this.#client.subscribe((event) => this.#onEvent(event));
  }

  #onEvent({ collection, after, last }: StoreEvent): void {
    const name = collection === namespaces ? last.name : last.namespace;
    // A namespace that starts to terminate is emptied; a deleted object may have been its last.
    if (name === '' || (collection !== namespaces && after !== undefined)) return;
    const namespace = this.#client.find({ collection: namespaces, key: storeKey('', name) });
    if (namespace === undefined) return;
    if (!isTerminating(namespace)) {
      if (defaultObjects.has(collection) || collection === namespaces) this.#createDefaults(name);
      return;
    }
    if (collection === namespaces) this.#empty(name);
    if (this.#isEmpty(name)) this.#release(namespace);
  }

  /** Creates the default objects of a namespace, and recreates them when they are deleted. */
  #createDefaults(namespace: string): void {
    for (const [collection, manifest] of defaultObjects) {
      const { name } = manifest.metadata;
      if (this.#client.find({ collection, key: storeKey(namespace, name) }) === undefined)
        this.#client.create(collection, namespace, manifest);
    }
  }

  #collections(): readonly string[] {
    const namespaced = this.#client.kinds().filter(({ names }) => names.namespaced);
    return [...new Set(namespaced.map(({ collection }) => collection))];
  }

  #empty(namespace: string): void {
    for (const collection of this.#collections())
      for (const stored of this.#objectsIn(collection, namespace))
        if (!isTerminating(stored)) this.#client.delete({ collection, key: stored.key });
  }

  #isEmpty(namespace: string): boolean {
    return this.#collections().every(
      (collection) => this.#objectsIn(collection, namespace).length === 0,
    );
  }

  #objectsIn(collection: string, namespace: string): readonly StoredObject[] {
    return this.#client.list(collection).filter((stored) => stored.namespace === namespace);
  }

  #release({ key }: StoredObject): void {
    this.#client.finalizeNamespace({ collection: namespaces, key });
  }
}
