import type { JsonObject } from '../../util/json.ts';
import type { ServedKind } from '../kinds/index.ts';
import {
  type DeleteOptions,
  deleteStored,
  inVersion,
  type RestContext,
  replaceObject,
  type Target,
} from '../rest/index.ts';
import type { StoredObject } from '../store/index.ts';
import type { ObjectPlace } from './owner-index.ts';

/** Who writes, in managedFields. */
const manager = 'kube-controller-manager';

/** What controllers do to objects; by the same way as requests. */
export class ObjectWriter {
  readonly #context: RestContext;

  constructor(context: RestContext) {
    this.#context = context;
  }

  find({ collection, key }: ObjectPlace): StoredObject | undefined {
    return this.#context.store.get(collection, key);
  }

  /** The kind of what is stored in a collection; undefined when it is served no more. */
  kindOf(collection: string): ServedKind | undefined {
    return this.#context.kinds.all().find((kind) => kind.collection === collection);
  }

  delete(place: ObjectPlace, propagation: DeleteOptions['propagation']): void {
    const [kind, stored] = [this.kindOf(place.collection), this.find(place)];
    if (kind === undefined || stored === undefined) return;
    const { namespace, name } = stored;
    const options = {
      dryRun: false,
      propagation,
      uid: undefined,
      resourceVersion: undefined,
      gracePeriodSeconds: undefined,
    };
    const target: Target = { kind, namespace, name, subresource: '' };
    deleteStored(this.#context, target, { stored, options });
  }

  /** Replaces an object by what a function makes of it. */
  change(place: ObjectPlace, change: (object: JsonObject) => JsonObject): void {
    const [kind, stored] = [this.kindOf(place.collection), this.find(place)];
    if (kind === undefined || stored === undefined) return;
    const live = inVersion(kind, stored);
    const next = kind.fieldManager('').update({ live, next: change(live), manager });
    const { namespace, name } = stored;
    const target: Target = { kind, namespace, name, subresource: '' };
    replaceObject(this.#context, target, { stored, next, dryRun: false, guardsUid: false });
  }
}
