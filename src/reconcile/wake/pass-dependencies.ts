import type { FieldPath, ReadPlan } from '../../compile/index.ts';
import type { ObjectRef, StoredObject } from '../../kube/roles.ts';
import type { LabelSelector } from '../../util/label-selector.ts';
import { topicOf } from '../identity.ts';
import type { NamedObject } from './named-objects.ts';
import type { ListRequest, SelectedNamespaces } from './selections.ts';
import type { Watches } from './watches.ts';

/** What one pass looks at. A dependency is registered and the cache read in one synchronous step. */
export class PassDependencies {
  readonly #key: string;
  readonly #watches: Watches;
  readonly #used = new Set<string>();

  constructor(key: string, watches: Watches) {
    this.#key = key;
    this.#watches = watches;
  }

  /** An object by name. */
  named(ref: ObjectRef, paths: readonly FieldPath[]): NamedObject {
    const topic = topicOf(ref.gvk, ref.namespace, ref.name);
    this.#used.add(topic);
    return this.#watches.named.look(ref, { topic, key: this.#key, paths });
  }

  /** The objects that a selector of the resource selects. */
  selected(read: ReadPlan, request: ListRequest): readonly StoredObject[] {
    return this.#watches.list(read.id).read(request, { key: this.#key, used: this.#used });
  }

  /** The namespaces that a selector selects. */
  namespaces(selector: LabelSelector): SelectedNamespaces {
    return this.#watches.namespaces.select(selector, { key: this.#key, used: this.#used });
  }

  /** A child that is not the resource's own yet: whatever happens to it runs the resource. */
  wanted({ gvk, namespace, name }: ObjectRef): void {
    const topic = topicOf(gvk, namespace, name);
    this.#used.add(topic);
    this.#watches.index.setObject(topic, this.#key, { isWanted: true });
  }

  /** An object of another owner where a child should be. Undefined: too many are watched already. */
  conflict(ref: ObjectRef): NamedObject | undefined {
    const topic = topicOf(ref.gvk, ref.namespace, ref.name);
    this.#used.add(topic);
    return this.#watches.watchConflict(ref, { topic, key: this.#key });
  }

  /** The pass is over: on what it did not look at the resource does not depend any more. */
  finish(): void {
    this.#watches.index.retain(this.#key, this.#used);
  }
}
