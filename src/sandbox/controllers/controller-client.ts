import type { Clock } from '#util/clock.ts';
import { deepEqual } from '#util/deep-equal.ts';
import type { JsonObject } from '#util/json.ts';
import { fieldOf, objectField, withField } from '../json-fields.ts';
import { type ServedKind, type Subresource, storedOf } from '../kinds/served-kind.ts';
import { stringsOf } from '../metadata/validate-metadata.ts';
import { createObject } from '../rest/create-object.ts';
import { deleteStored } from '../rest/delete-object.ts';
import type { DeleteOptions } from '../rest/delete-options.ts';
import { replaceObject } from '../rest/replace-object.ts';
import {
  inVersion,
  type RestContext,
  type Target,
  type WriteAdmission,
} from '../rest/rest-context.ts';
import type { StoreEvent } from '../store/object-store.ts';
import { type StoredObject, storeKey } from '../store/stored-object.ts';

/** The manager of the writes, in managedFields. */
const manager = 'kube-controller-manager';

/** The location of a stored object. */
export interface ObjectKey {
  readonly collection: string;
  readonly key: string;
}

/** An Event that a controller records for an object. */
export interface ControllerEvent {
  readonly component: string;
  readonly reason: string;
  readonly message: string;
  /** @default 'Normal' */
  readonly type?: 'Normal' | 'Warning';
}

interface ControllerClientOptions {
  readonly clock: Clock;
  /** Are Events recorded? */
  readonly hasEvents: boolean;
  /** The policies that Pods and other objects of workloads must pass. @default none */
  readonly admission?: WriteAdmission;
}

/** Objects that workload controllers create: what rejects one is reported on the workload. */
const workloadObjects: ReadonlySet<string> = new Set([
  '/pods',
  '/persistentvolumeclaims',
  'apps/replicasets',
  'batch/jobs',
]);

const controllerUser = {
  username: 'system:serviceaccount:kube-system:controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
};

/** The API that controllers use: reads the store, and writes with the same steps as requests. */
export class ControllerClient {
  readonly #context: RestContext;
  /** Of creates that policies may reject. */
  readonly #admitted: RestContext;
  readonly #hasEvents: boolean;
  readonly clock: Clock;

  constructor(context: RestContext, { clock, hasEvents, admission }: ControllerClientOptions) {
    this.#context = context;
    this.#admitted = { ...context, user: controllerUser, ...(admission && { admission }) };
    this.#hasEvents = hasEvents;
    this.clock = clock;
  }

  /** The current time, as RFC 3339 with seconds. */
  now(): string {
    return this.#context.now();
  }

  /** Calls the listener for all existing objects, then for every change; returns the unsubscribe function. */
  subscribe(listener: (event: StoreEvent) => void): () => void {
    const unsubscribe = this.#context.store.subscribe(listener);
    for (const event of this.currentObjects()) listener(event);
    return unsubscribe;
  }

  /** All existing objects, each as an event. */
  currentObjects(): readonly StoreEvent[] {
    return this.#context.store.currentObjects();
  }

  find({ collection, key }: ObjectKey): StoredObject | undefined {
    return this.#context.store.get(collection, key);
  }

  list(collection: string): readonly StoredObject[] {
    return this.#context.store.list(collection);
  }

  kinds(): readonly ServedKind[] {
    return this.#context.kinds.all();
  }

  /** The kind that is stored in a collection; undefined when it is no longer served. */
  kindOf(collection: string): ServedKind | undefined {
    return storedOf(this.kinds().filter((kind) => kind.collection === collection));
  }

  /** Creates an object and returns its name; returns an empty name when the kind is not served. */
  create(collection: string, namespace: string, manifest: JsonObject): string {
    const kind = this.kindOf(collection);
    if (kind === undefined) return '';
    const target: Target = { kind, namespace, name: '', subresource: '' };
    const context = workloadObjects.has(collection) ? this.#admitted : this.#context;
    const { body } = createObject(context, target, {
      text: JSON.stringify({ apiVersion: kind.apiVersion, kind: kind.names.kind, ...manifest }),
      contentType: 'application/json',
      options: { manager, dryRun: false, fieldValidation: 'Ignore', force: false },
    });
    return String(objectField(body as JsonObject, 'metadata')?.name ?? '');
  }

  /** Records an Event for an object. */
  recordEvent(subject: StoredObject, event: ControllerEvent): void {
    if (!this.#hasEvents) return;
    const { component, reason, message, type = 'Normal' } = event;
    const { kind, apiVersion } = subject.object;
    const { uid } = partOf(subject, 'metadata');
    const now = this.now();
    const namespace = subject.namespace === '' ? 'default' : subject.namespace;
    const namespaceObject = this.find(objectKey('/namespaces', '', namespace));
    // No objects can be created in a namespace that is being deleted.
    if (namespaceObject === undefined || partOf(namespaceObject, 'status').phase === 'Terminating')
      return;
    this.create('/events', namespace, {
      metadata: {
        name: `${subject.name}.${this.#context.newSuffix()}${this.#context.newSuffix()}`,
      },
      involvedObject: {
        kind,
        namespace: subject.namespace,
        name: subject.name,
        uid,
        apiVersion,
        resourceVersion: String(subject.version),
      },
      reason,
      message,
      source: { component },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      type,
      reportingComponent: component,
      reportingInstance: '',
    });
  }

  delete(place: ObjectKey, options: Partial<DeleteOptions> = {}): void {
    const [kind, stored] = [this.kindOf(place.collection), this.find(place)];
    if (kind === undefined || stored === undefined) return;
    const { namespace, name } = stored;
    const all: DeleteOptions = {
      dryRun: false,
      propagation: 'Background',
      uid: undefined,
      resourceVersion: undefined,
      gracePeriodSeconds: undefined,
      ...options,
    };
    const target: Target = { kind, namespace, name, subresource: '' };
    deleteStored(this.#context, target, { stored, options: all });
  }

  /** Removes the server's finalizer from the spec of a namespace; the namespace is deleted if no other finalizer holds it. */
  finalizeNamespace(place: ObjectKey): void {
    const { store } = this.#context;
    const stored = this.find(place);
    if (stored === undefined) return;
    const spec = partOf(stored, 'spec');
    const finalizers = stringsOf(spec, 'finalizers');
    const others = finalizers.filter((name) => name !== 'kubernetes');
    if (others.length === 0 && stringsOf(partOf(stored, 'metadata'), 'finalizers').length === 0) {
      store.delete(place.collection, stored);
    } else if (others.length < finalizers.length) {
      const remaining = withField(spec, 'finalizers', others.length === 0 ? undefined : others);
      store.put(place.collection, withField(stored.object, 'spec', remaining));
    }
  }

  /** Replaces an object by the result of a function. */
  update(place: ObjectKey, change: (object: JsonObject) => JsonObject): void {
    this.#write(place, '', change);
  }

  /** Replaces the status and the metadata of an object by the result of a function. */
  updateStatus(place: ObjectKey, change: (object: JsonObject) => JsonObject): void {
    this.#write(place, 'status', change);
  }

  /** Writes a status if it changed. Keeps the conditions of other managers when the controller writes none. */
  writeStatus(place: ObjectKey, status: JsonObject): void {
    this.#write(place, 'status', (object) => {
      const conditions = fieldOf(objectField(object, 'status') ?? {}, 'conditions');
      const remaining = conditions === undefined ? {} : { conditions };
      return { ...object, status: { ...remaining, ...status } };
    });
  }

  #write(
    place: ObjectKey,
    subresource: Subresource,
    change: (object: JsonObject) => JsonObject,
  ): void {
    const [kind, stored] = [this.kindOf(place.collection), this.find(place)];
    if (kind === undefined || stored === undefined) return;
    const live = inVersion(kind, stored);
    const changed = kind.complete(change(live));
    if (deepEqual(changed, live)) return;
    const next = kind.fieldManager(subresource).update({ live, next: changed, manager });
    const { namespace, name } = stored;
    const target: Target = { kind, namespace, name, subresource };
    replaceObject(this.#context, target, { stored, next, dryRun: false, isUidPrecondition: false });
  }
}

export function objectKey(collection: string, namespace: string, name: string): ObjectKey {
  return { collection, key: storeKey(namespace, name) };
}

/** `spec`, `status` or `metadata`; empty when the field is absent. */
export function partOf({ object }: StoredObject, name: 'spec' | 'status' | 'metadata'): JsonObject {
  return objectField(object, name) ?? {};
}

/** The value of a field, or the fallback when it is not a number. */
export function numberOf(object: JsonObject, name: string, fallback: number): number {
  const value = fieldOf(object, name);
  return typeof value === 'number' ? value : fallback;
}
