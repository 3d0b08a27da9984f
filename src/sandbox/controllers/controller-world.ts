import type { Clock } from '../../util/clock.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { JsonObject } from '../../util/json.ts';
import { fieldOf, objectField, withField } from '../json-fields.ts';
import type { ServedKind, Subresource } from '../kinds/index.ts';
import { textsOf } from '../metadata/index.ts';
import {
  createObject,
  type DeleteOptions,
  deleteStored,
  inVersion,
  type RestContext,
  replaceObject,
  type Target,
} from '../rest/index.ts';
import { type StoredObject, type StoreEvent, storeKey } from '../store/index.ts';

/** Who writes, in managedFields. */
const manager = 'kube-controller-manager';

/** Where an object is stored. */
export interface ObjectPlace {
  readonly collection: string;
  readonly key: string;
}

/** What a controller says of an object. */
export interface ControllerEvent {
  readonly component: string;
  readonly reason: string;
  readonly message: string;
  /** @default 'Normal' */
  readonly type?: 'Normal' | 'Warning';
}

/** What controllers see of the world and do to it; by the same way as requests. */
export class ControllerWorld {
  readonly #context: RestContext;
  readonly clock: Clock;

  constructor(context: RestContext, clock: Clock) {
    this.#context = context;
    this.clock = clock;
  }

  /** Now, as objects write it. */
  now(): string {
    return this.#context.now();
  }

  /** Tells what is there, then every change; returns a function that ends it. */
  follow(listener: (event: StoreEvent) => void): () => void {
    const unsubscribe = this.#context.store.subscribe(listener);
    for (const event of this.present()) listener(event);
    return unsubscribe;
  }

  /** Everything that is there, each as if it had just been written. */
  present(): readonly StoreEvent[] {
    return this.#context.store.present();
  }

  find({ collection, key }: ObjectPlace): StoredObject | undefined {
    return this.#context.store.get(collection, key);
  }

  list(collection: string): readonly StoredObject[] {
    return this.#context.store.list(collection);
  }

  kinds(): readonly ServedKind[] {
    return this.#context.kinds.all();
  }

  /** The kind of what is stored in a collection; undefined when it is served no more. */
  kindOf(collection: string): ServedKind | undefined {
    return this.kinds().find((kind) => kind.collection === collection);
  }

  /** Creates an object and returns its name; nothing, and no name, when nobody serves the kind. */
  create(collection: string, namespace: string, manifest: JsonObject): string {
    const kind = this.kindOf(collection);
    if (kind === undefined) return '';
    const target: Target = { kind, namespace, name: '', subresource: '' };
    const { body } = createObject(this.#context, target, {
      text: JSON.stringify({ apiVersion: kind.apiVersion, kind: kind.names.kind, ...manifest }),
      contentType: 'application/json',
      options: { manager, dryRun: false, fieldValidation: 'Ignore', force: false },
    });
    return String(objectField(body as JsonObject, 'metadata')?.name ?? '');
  }

  /** Tells of an object what a controller has done for it. */
  record(about: StoredObject, event: ControllerEvent): void {
    const { component, reason, message, type = 'Normal' } = event;
    const { kind, apiVersion } = about.object;
    const { uid } = partOf(about, 'metadata');
    const now = this.now();
    const namespace = about.namespace === '' ? 'default' : about.namespace;
    const home = this.find(placeOf('/namespaces', '', namespace));
    // Nothing new comes into a namespace that is about to go.
    if (home === undefined || partOf(home, 'status').phase === 'Terminating') return;
    this.create('/events', namespace, {
      metadata: { name: `${about.name}.${this.#context.newSuffix()}${this.#context.newSuffix()}` },
      involvedObject: {
        kind,
        namespace: about.namespace,
        name: about.name,
        uid,
        apiVersion,
        resourceVersion: String(about.version),
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

  delete(place: ObjectPlace, options: Partial<DeleteOptions> = {}): void {
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

  /** Takes the server's own finalizer from the spec of a namespace; one that nothing else holds is gone. */
  release(place: ObjectPlace): void {
    const { store } = this.#context;
    const stored = this.find(place);
    if (stored === undefined) return;
    const spec = partOf(stored, 'spec');
    const finalizers = textsOf(spec, 'finalizers');
    const others = finalizers.filter((name) => name !== 'kubernetes');
    if (others.length === 0 && textsOf(partOf(stored, 'metadata'), 'finalizers').length === 0) {
      store.delete(place.collection, stored);
    } else if (others.length < finalizers.length) {
      const kept = withField(spec, 'finalizers', others.length === 0 ? undefined : others);
      store.put(place.collection, withField(stored.object, 'spec', kept));
    }
  }

  /** Replaces an object by what a function makes of it. */
  change(place: ObjectPlace, change: (object: JsonObject) => JsonObject): void {
    this.#write(place, '', change);
  }

  /** Replaces the status and the metadata of an object by what a function makes of them. */
  changeStatus(place: ObjectPlace, change: (object: JsonObject) => JsonObject): void {
    this.#write(place, 'status', change);
  }

  /** Writes a status, unless it is what the object has. A controller without conditions of its own leaves those of others. */
  writeStatus(place: ObjectPlace, status: JsonObject): void {
    this.#write(place, 'status', (object) => {
      const conditions = fieldOf(objectField(object, 'status') ?? {}, 'conditions');
      const kept = conditions === undefined ? {} : { conditions };
      return { ...object, status: { ...kept, ...status } };
    });
  }

  #write(
    place: ObjectPlace,
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
    replaceObject(this.#context, target, { stored, next, dryRun: false, guardsUid: false });
  }
}

export function placeOf(collection: string, namespace: string, name: string): ObjectPlace {
  return { collection, key: storeKey(namespace, name) };
}

/** `spec` or `status`, empty when it is not there. */
export function partOf({ object }: StoredObject, name: 'spec' | 'status' | 'metadata'): JsonObject {
  return objectField(object, name) ?? {};
}

/** A number, or another when it is none. */
export function numberOf(object: JsonObject, name: string, otherwise: number): number {
  const value = fieldOf(object, name);
  return typeof value === 'number' ? value : otherwise;
}
