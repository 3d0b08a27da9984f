import type { Priority } from '../../controller/index.ts';
import type { PassToken } from '../../kube/roles.ts';

export interface ResourceQueueOptions {
  /** The definition's name. */
  readonly definition: string;
  /** All resources. */
  readonly keys: () => Iterable<string>;
  /** Called before a resource is enqueued: something outside its own pass has changed. */
  readonly noteEvent: (key: string) => void;
  readonly enqueue: (key: string, priority: Priority) => void;
}

/** What of an event says how it enqueues. */
export interface EnqueuingEvent {
  /** Part of a first list. */
  readonly initial: boolean;
  /** The pass whose write it is the answer to. */
  readonly pass?: PassToken;
}

/** So many resources at most are enqueued at once as if each were alone; from there on others go first. */
const sharedByMany = 100;

/** Do so many resources depend on the same thing (an object that is read, a right, a namespace) that it runs them with low priority? */
export function isSharedByMany({ size }: { readonly size: number }): boolean {
  return size > sharedByMany;
}

/** Enqueues the resources of an operator because something outside their own passes has changed. */
export class ResourceQueue {
  readonly #options: ResourceQueueOptions;

  constructor(options: ResourceQueueOptions) {
    this.#options = options;
  }

  enqueue(key: string, priority: Priority): void {
    const { noteEvent, enqueue } = this.#options;
    noteEvent(key);
    enqueue(key, priority);
  }

  /** Enqueues a resource for an event, unless the event is the answer to a write of its own pass. */
  enqueueFor(key: string, { pass, initial }: EnqueuingEvent, isShared = false): void {
    if (pass?.key === key && pass.definition === this.#options.definition) return;
    this.enqueue(key, initial || isShared ? 'low' : 'normal');
  }

  /** An informer that passes had to do without has become usable, or not: all resources look again. */
  enqueueAll(): void {
    for (const key of this.#options.keys()) this.enqueue(key, 'low');
  }
}
