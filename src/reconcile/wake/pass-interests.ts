import type { FieldPath, ReadPlan } from '../../compile/index.ts';
import type { ObjectRef, StoredObject } from '../../kube/roles.ts';
import type { LabelSelector } from '../../util/label-selector.ts';
import { topicOf } from './child-watch.ts';
import { type NamedObject, topicOfRef } from './named-objects.ts';
import type { SelectedNamespaces } from './namespace-watch.ts';
import type { ListRequest } from './read-list.ts';
import type { Watches } from './watches.ts';

/** What one pass looks at. Interest is registered and the cache read in one synchronous step. */
export class PassInterests {
  readonly #key: string;
  readonly #watches: Watches;
  readonly #used = new Set<string>();
  readonly #listed = new Set<string>();

  constructor(key: string, watches: Watches) {
    this.#key = key;
    this.#watches = watches;
  }

  /** An object by name. */
  named(ref: ObjectRef, paths: readonly FieldPath[]): NamedObject {
    this.#used.add(topicOfRef(ref));
    return this.#watches.lookAt(ref, { key: this.#key, paths });
  }

  /** The objects that a selector of the resource selects. */
  selected(read: ReadPlan, request: Omit<ListRequest, 'key'>): readonly StoredObject[] {
    this.#listed.add(read.id);
    return this.#watches.list(read.id).read({ key: this.#key, ...request });
  }

  /** The namespaces that a selector selects. */
  namespaces(selector: LabelSelector): SelectedNamespaces {
    const watch = this.#watches.namespaces();
    this.#used.add(watch.topicOf(selector));
    return watch.select(this.#key, selector);
  }

  /** A child that is not the resource's own yet: whatever happens to it wakes the resource. */
  wanted(ref: ObjectRef): void {
    const topic = topicOf(ref.gvk, ref.namespace, ref.name);
    this.#used.add(topic);
    this.#watches.want(topic, this.#key);
  }

  /** An object of somebody else where a child should be. Undefined: too many are watched already. */
  conflict(ref: ObjectRef): NamedObject | undefined {
    this.#used.add(topicOfRef(ref));
    return this.#watches.watchConflict(ref, this.#key);
  }

  /** The pass is over: what it did not look at is not watched for it any more. */
  finish(reads: readonly ReadPlan[]): void {
    this.#watches.retain(this.#key, this.#used);
    for (const { id, by } of reads) {
      if (by === 'selector' && !this.#listed.has(id)) this.#watches.list(id).forget(this.#key);
    }
  }
}
