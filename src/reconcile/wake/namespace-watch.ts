import type { Informer, InformerState, Watcher } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { gvkOf } from '../../util/gvk.ts';
import { type LabelSelector, selects } from '../../util/label-selector.ts';
import { InterestTable } from './interest-table.ts';
import { isSharedByMany } from './shared-by-many.ts';
import { type Waker, wakeFor } from './waker.ts';

const namespaceKind = gvkOf('v1', 'Namespace');

export interface NamespaceWatchOptions {
  readonly watcher: Watcher;
  readonly waker: Waker;
}

/** What a selector of namespaces selects now. */
export interface SelectedNamespaces {
  readonly state: InformerState;
  readonly names: ReadonlySet<string>;
}

/** The watch on Namespaces, for reads with a `namespaceSelector`: who comes or goes, or is labelled anew, wakes who selects it. */
export class NamespaceWatch {
  readonly informer: Informer;
  readonly #interests = new InterestTable<LabelSelector>();
  readonly #stop: readonly (() => void)[];

  constructor({ watcher, waker }: NamespaceWatchOptions) {
    this.informer = watcher.acquire({ gvk: namespaceKind });
    this.#stop = [
      this.informer.subscribe((event) => {
        const before = event.old?.object.metadata;
        const after = event.current?.object.metadata;
        for (const topic of this.#interests.topics()) {
          const interested = this.#interests.of(topic) ?? new Map<string, LabelSelector>();
          const [selector] = interested.values();
          if (selector === undefined) continue;
          const was = before !== undefined && selects(selector, before.labels);
          const is = after !== undefined && selects(selector, after.labels);
          if (was === is) continue;
          const shared = isSharedByMany(interested);
          for (const key of interested.keys()) wakeFor(waker, key, { event, shared });
        }
      }),
      this.informer.onState(() => waker.wakeAll()),
    ];
  }

  /** The topic of a selector, as {@link NamespaceWatch.retain} wants it. */
  topicOf(selector: LabelSelector): string {
    return `namespaces ${canonicalJson(selector)}`;
  }

  /** Registers the interest of a resource and reads, in one synchronous step. */
  select(key: string, selector: LabelSelector): SelectedNamespaces {
    this.#interests.set(this.topicOf(selector), key, selector);
    const names = new Set<string>();
    for (const { object } of this.informer.list()) {
      if (selects(selector, object.metadata.labels)) names.add(object.metadata.name);
    }
    return { state: this.informer.state, names };
  }

  /** A resource selects by these topics and no others any more. */
  retain(key: string, used: ReadonlySet<string>): void {
    this.#interests.retain(key, used);
  }

  stop(): void {
    for (const stop of this.#stop) stop();
    this.informer.release();
  }
}
