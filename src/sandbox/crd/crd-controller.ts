import { deepEqual } from '../../util/deep-equal.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import type { MergeComponents } from '../apply/index.ts';
import { createCelEnvironment, readRules } from '../cel/index.ts';
import { objectField, stringField, withField } from '../json-fields.ts';
import {
  customKind,
  type KindRegistry,
  type ServedKind,
  ServedLife,
  withMetadata,
} from '../kinds/index.ts';
import { textsOf } from '../metadata/index.ts';
import { deleteStored, type RestContext } from '../rest/index.ts';
import type { GoType } from '../schema/index.ts';
import type { StoredObject, StoreEvent } from '../store/index.ts';
import { acceptedNames, isEstablished, takenNames, withAcceptedNames } from './accepted-names.ts';
import { cleanupFinalizer, withDeletionInProgress } from './crd-rules.ts';
import { servedVersions, storageVersion } from './read-crd.ts';

export const crdCollection = 'apiextensions.k8s.io/customresourcedefinitions';

export interface CrdControllerOptions {
  readonly context: RestContext;
  /** Of the built-in kinds. */
  readonly components: MergeComponents;
  readonly objectMeta: GoType;
}

/** Serves what CRDs define: at once when one is written, until its objects are gone when it is deleted. */
export class CrdController {
  readonly #context: RestContext;
  readonly #components: MergeComponents;
  readonly #objectMeta: GoType;
  readonly #cel = createCelEnvironment();
  /** What is served, by the name of its CRD. */
  readonly #served = new Map<string, Served>();

  constructor({ context, components, objectMeta }: CrdControllerOptions) {
    this.#context = context;
    this.#components = components;
    this.#objectMeta = objectMeta;
  }

  /** Begins to follow the store; returns a function that ends it. */
  start(): () => void {
    const { store } = this.#context;
    for (const stored of store.list(crdCollection)) this.#serve(stored);
    return store.subscribe((event) => this.#onEvent(event));
  }

  get #kinds(): KindRegistry {
    return this.#context.kinds;
  }

  #onEvent(event: StoreEvent): void {
    const { collection, after, last } = event;
    if (collection !== crdCollection) {
      if (after === undefined) this.#finishDeletionOf(collection);
      return;
    }
    const { store } = this.#context;
    const current = store.get(crdCollection, last.key);
    if (current === undefined) this.#withdraw(last);
    else if (isTerminating(current)) this.#deleteObjects(current);
    // An event that is not the newest: the newest comes, too.
    else if (current === after) this.#serve(current);
  }

  #serve(stored: StoredObject): void {
    const others = this.#ofGroup(groupOf(stored)).filter(({ name }) => name !== stored.name);
    const taken = takenNames(others.map(({ object }) => object));
    const accepted = withAcceptedNames(stored.object, taken, this.#context.now());
    if (isEstablished(accepted)) this.#serveSpec(stored.name, withNames(accepted));
    if (accepted !== stored.object) this.#writeStatus(stored, accepted);
  }

  #ofGroup(group: string): readonly StoredObject[] {
    const all = this.#context.store.list(crdCollection);
    return all.filter((stored) => groupOf(stored) === group);
  }

  /** A change of the conditions alone changes nothing of what is served. */
  #serveSpec(name: string, crd: JsonObject): void {
    const before = this.#served.get(name);
    if (before !== undefined && deepEqual(before.spec, crd.spec)) return;
    const life = new ServedLife(this.#context.store.version);
    this.#served.set(name, { spec: crd.spec, life });
    this.#kinds.setCustom(name, this.#kindsOf(crd, life));
    before?.life.end();
  }

  #withdraw(gone: StoredObject): void {
    const before = this.#served.get(gone.name);
    this.#served.delete(gone.name);
    this.#kinds.setCustom(gone.name, []);
    before?.life.end();
    // Its names are free.
    for (const stored of this.#ofGroup(groupOf(gone)))
      if (!isTerminating(stored)) this.#serve(stored);
  }

  #kindsOf(crd: JsonObject, life: ServedLife): readonly ServedKind[] {
    const versions = servedVersions(crd);
    const stored = storageVersion(crd);
    return versions.map((version) =>
      customKind({
        version,
        versions,
        storageVersion: stored,
        components: this.#components,
        objectMeta: this.#objectMeta,
        rules: readRules(this.#cel, version.schema),
        now: this.#context.now,
        life,
      }),
    );
  }

  #writeStatus(stored: StoredObject, next: JsonObject): void {
    const kind = this.#crdKind();
    const fields = kind.fieldManager('status');
    const owned = fields.update({ live: stored.object, next, manager: 'kube-apiserver' });
    this.#context.store.put(crdCollection, owned);
  }

  #crdKind(): ServedKind {
    const kind = this.#kinds.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
    if (kind === undefined) throw new Error('Expected the kind of CRDs among the served ones');
    return kind;
  }

  #deleteObjects(crd: StoredObject): void {
    const { store } = this.#context;
    this.#served.get(crd.name)?.life.close();
    const [kind] = this.#kindsOf(crd.object, new ServedLife(store.version));
    const objects = kind === undefined ? [] : store.list(kind.collection);
    for (const stored of objects) {
      if (kind === undefined || isTerminating(stored)) continue;
      const { namespace, name } = stored;
      deleteStored(
        this.#context,
        { kind, namespace, name, subresource: '' },
        { stored, options: plainDelete },
      );
    }
    if (kind === undefined || store.list(kind.collection).length === 0) this.#release(crd);
    else this.#tellOfDeletion(crd.key);
  }

  /** Something holds objects of it. */
  #tellOfDeletion(key: string): void {
    const current = this.#context.store.get(crdCollection, key);
    if (current === undefined) return;
    const told = withDeletionInProgress(current.object);
    if (told !== current.object) this.#writeStatus(current, told);
  }

  #finishDeletionOf(collection: string): void {
    const { store } = this.#context;
    if (store.list(collection).length > 0) return;
    const [group = '', plural = ''] = collection.split('/');
    const crd = store.get(crdCollection, `/${plural}.${group}`);
    if (crd !== undefined && isTerminating(crd)) this.#release(crd);
  }

  /** Nothing holds the CRD any more, unless somebody else's finalizer does. */
  #release(crd: StoredObject): void {
    const { store } = this.#context;
    const current = store.get(crdCollection, crd.key);
    if (current === undefined) return;
    const metadata = objectField(current.object, 'metadata') ?? {};
    const finalizers = textsOf(metadata, 'finalizers');
    if (!finalizers.includes(cleanupFinalizer)) return;
    const others = finalizers.filter((name) => name !== cleanupFinalizer);
    if (others.length === 0) store.delete(crdCollection, current);
    else store.put(crdCollection, withMetadata(current.object, 'finalizers', others));
  }
}

interface Served {
  readonly spec: Json | undefined;
  readonly life: ServedLife;
}

const plainDelete = {
  dryRun: false,
  propagation: undefined,
  uid: undefined,
  resourceVersion: undefined,
  gracePeriodSeconds: undefined,
} as const;

function groupOf({ object }: StoredObject): string {
  return stringField(objectField(object, 'spec') ?? {}, 'group') ?? '';
}

/** A CRD as it is served: under the names that it has been given. */
function withNames(crd: JsonObject): JsonObject {
  const spec = objectField(crd, 'spec') ?? {};
  return withField(crd, 'spec', { ...spec, names: acceptedNames(crd) });
}

function isTerminating({ object }: StoredObject): boolean {
  return objectField(object, 'metadata')?.deletionTimestamp !== undefined;
}
