import { type StoredObject, type StoreEvent, storeKey } from '../store/index.ts';
import type { ControllerWorld } from './controller-world.ts';
import { isTerminating } from './owner-index.ts';

const namespaces = '/namespaces';

/** What every namespace has, by collection. */
const furniture = new Map([
  ['/serviceaccounts', { metadata: { name: 'default' } }],
  [
    '/configmaps',
    {
      metadata: {
        name: 'kube-root-ca.crt',
        annotations: {
          'kubernetes.io/description': 'The sandbox speaks plain HTTP: there is no certificate.',
        },
      },
      data: { 'ca.crt': '' },
    },
  ],
]);

/** Empties namespaces that are deleted, and lets them go when they are empty. */
export class NamespaceController {
  readonly #world: ControllerWorld;

  constructor(world: ControllerWorld) {
    this.#world = world;
  }

  /** Begins to follow the store; returns a function that ends it. */
  start(): () => void {
    return this.#world.follow((event) => this.#onEvent(event));
  }

  #onEvent({ collection, after, last }: StoreEvent): void {
    const name = collection === namespaces ? last.name : last.namespace;
    // A namespace that begins to go is emptied; an object that is gone may have been its last.
    if (name === '' || (collection !== namespaces && after !== undefined)) return;
    const namespace = this.#world.find({ collection: namespaces, key: storeKey('', name) });
    if (namespace === undefined) return;
    if (!isTerminating(namespace)) {
      if (furniture.has(collection) || collection === namespaces) this.#furnish(name);
      return;
    }
    if (collection === namespaces) this.#empty(name);
    if (this.#isEmpty(name)) this.#release(namespace);
  }

  /** Makes what every namespace has, and makes it again when it is deleted. */
  #furnish(namespace: string): void {
    for (const [collection, manifest] of furniture) {
      const { name } = manifest.metadata;
      if (this.#world.find({ collection, key: storeKey(namespace, name) }) === undefined)
        this.#world.create(collection, namespace, manifest);
    }
  }

  #collections(): readonly string[] {
    const namespaced = this.#world.kinds().filter(({ names }) => names.namespaced);
    return [...new Set(namespaced.map(({ collection }) => collection))];
  }

  #empty(namespace: string): void {
    for (const collection of this.#collections())
      for (const stored of this.#objectsIn(collection, namespace))
        if (!isTerminating(stored)) this.#world.delete({ collection, key: stored.key });
  }

  #isEmpty(namespace: string): boolean {
    return this.#collections().every(
      (collection) => this.#objectsIn(collection, namespace).length === 0,
    );
  }

  #objectsIn(collection: string, namespace: string): readonly StoredObject[] {
    return this.#world.list(collection).filter((stored) => stored.namespace === namespace);
  }

  #release({ key }: StoredObject): void {
    this.#world.release({ collection: namespaces, key });
  }
}
