import { deepEqual } from '#util/deep-equal.ts';
import type { Json, JsonObject } from '#util/json.ts';
import type { MergeComponents } from '../apply/field-type-builder.ts';
import { createCelEnvironment } from '../cel/cel-environment.ts';
import { readRules } from '../cel/rule-set.ts';
import { objectField, stringField, withField } from '../json-fields.ts';
import { customKind } from '../kinds/custom-kind.ts';
import { ServingPeriod, withMetadata } from '../kinds/generation.ts';
import type { KindRegistry } from '../kinds/kind-registry.ts';
import { type ServedKind, storedOf } from '../kinds/served-kind.ts';
import { stringsOf } from '../metadata/validate-metadata.ts';
import { deleteStored } from '../rest/delete-object.ts';
import type { RestContext } from '../rest/rest-context.ts';
import type { GoType } from '../schema/go-type-builder.ts';
import type { StoreEvent } from '../store/object-store.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { acceptedNames, isEstablished, namesInUse, withAcceptedNames } from './accepted-names.ts';
import { readConverter, type WebhookRules } from './crd-conversion.ts';
import { cleanupFinalizer, withDeletionInProgress } from './crd-rules.ts';
import { readVersions, storageVersion } from './read-crd.ts';

const crdCollection = 'apiextensions.k8s.io/customresourcedefinitions';

interface CrdControllerOptions {
  readonly context: RestContext;
  /** The OpenAPI components of the built-in kinds. */
  readonly components: MergeComponents;
  readonly objectMeta: GoType;
  readonly webhooks: WebhookRules;
}

/** Serves the kinds of CRDs: as soon as the CRD is written, and until its last object is deleted. */
export class CrdController {
  readonly #context: RestContext;
  readonly #components: MergeComponents;
  readonly #objectMeta: GoType;
  readonly #webhooks: WebhookRules;
  readonly #cel = createCelEnvironment();
  /** What is served, by name of the CRD. */
  readonly #served = new Map<string, Served>();

  constructor({ context, components, objectMeta, webhooks }: CrdControllerOptions) {
    this.#context = context;
    this.#components = components;
    this.#objectMeta = objectMeta;
    this.#webhooks = webhooks;
  }

  /** Subscribes to the store; returns the unsubscribe function. */
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
    if (current === undefined) this.#stopServing(last);
    else if (isTerminating(current)) this.#deleteObjects(current);
    // If this event is not the newest, the newest follows.
    else if (current === after) this.#serve(current);
  }

  #serve(stored: StoredObject): void {
    const others = this.#ofGroup(groupOf(stored)).filter(({ name }) => name !== stored.name);
    const inUse = namesInUse(others.map(({ object }) => object));
    const accepted = withAcceptedNames(stored.object, inUse, this.#context.now());
    if (isEstablished(accepted)) this.#serveSpec(stored.name, withNames(accepted));
    if (accepted !== stored.object) this.#writeStatus(stored, accepted);
  }

  #ofGroup(group: string): readonly StoredObject[] {
    const all = this.#context.store.list(crdCollection);
    return all.filter((stored) => groupOf(stored) === group);
  }

  /** A change of the conditions alone does not change what is served. */
  #serveSpec(name: string, crd: JsonObject): void {
    const before = this.#served.get(name);
    if (before !== undefined && deepEqual(before.spec, crd.spec)) return;
    const servingPeriod = new ServingPeriod(this.#context.store.version);
    this.#served.set(name, { spec: crd.spec, servingPeriod });
    this.#kinds.setCustom(name, this.#kindsOf(crd, servingPeriod));
    before?.servingPeriod.end();
  }

  #stopServing(deleted: StoredObject): void {
    const before = this.#served.get(deleted.name);
    this.#served.delete(deleted.name);
    this.#kinds.setCustom(deleted.name, []);
    before?.servingPeriod.end();
    // The names of the deleted CRD are free.
    for (const stored of this.#ofGroup(groupOf(deleted)))
      if (!isTerminating(stored)) this.#serve(stored);
  }

  #kindsOf(crd: JsonObject, servingPeriod: ServingPeriod): readonly ServedKind[] {
    const versions = readVersions(crd);
    const stored = storageVersion(crd);
    const key = `/${stringField(objectField(crd, 'metadata') ?? {}, 'name')}`;
    const current = () => this.#context.store.get(crdCollection, key)?.object;
    const converter = readConverter(crd, this.#webhooks, current);
    return versions
      .filter(({ served }) => served)
      .map((version) =>
        customKind({
          version,
          versions,
          storageVersion: stored,
          converter,
          components: this.#components,
          objectMeta: this.#objectMeta,
          rules: readRules(this.#cel, version.schema),
          now: this.#context.now,
          servingPeriod,
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
    this.#served.get(crd.name)?.servingPeriod.denyCreate();
    const kind = storedOf(this.#kindsOf(crd.object, new ServingPeriod(store.version)));
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
    if (kind === undefined || store.list(kind.collection).length === 0) this.#removeFinalizer(crd);
    else this.#writeDeletionCondition(crd.key);
  }

  /** Objects of the CRD still exist: sets the condition for that. */
  #writeDeletionCondition(key: string): void {
    const current = this.#context.store.get(crdCollection, key);
    if (current === undefined) return;
    const updated = withDeletionInProgress(current.object);
    if (updated !== current.object) this.#writeStatus(current, updated);
  }

  #finishDeletionOf(collection: string): void {
    const { store } = this.#context;
    if (store.list(collection).length > 0) return;
    const [group = '', plural = ''] = collection.split('/');
    const crd = store.get(crdCollection, `/${plural}.${group}`);
    if (crd !== undefined && isTerminating(crd)) this.#removeFinalizer(crd);
  }

  /** Removes the finalizer: the CRD is deleted unless other finalizers hold it. */
  #removeFinalizer(crd: StoredObject): void {
    const { store } = this.#context;
    const current = store.get(crdCollection, crd.key);
    if (current === undefined) return;
    const metadata = objectField(current.object, 'metadata') ?? {};
    const finalizers = stringsOf(metadata, 'finalizers');
    if (!finalizers.includes(cleanupFinalizer)) return;
    const others = finalizers.filter((name) => name !== cleanupFinalizer);
    if (others.length === 0) store.delete(crdCollection, current);
    else store.put(crdCollection, withMetadata(current.object, 'finalizers', others));
  }
}

interface Served {
  readonly spec: Json | undefined;
  readonly servingPeriod: ServingPeriod;
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

/** A CRD with its accepted names, as it is served. */
function withNames(crd: JsonObject): JsonObject {
  const spec = objectField(crd, 'spec') ?? {};
  return withField(crd, 'spec', { ...spec, names: acceptedNames(crd) });
}

function isTerminating({ object }: StoredObject): boolean {
  return objectField(object, 'metadata')?.deletionTimestamp !== undefined;
}
