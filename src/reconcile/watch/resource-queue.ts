import type { Priority } from '../../controller/index.ts';
import type { CacheEvent } from '../../kube/roles.ts';
import type { Change } from './object-change.ts';

/** Why a resource is enqueued. */
export type EnqueueCause =
  /** An object has changed, been created or deleted. */
  | 'change'
  /** The first list after the start contains the object. */
  | 'start'
  /** `schedule`, `requeueAfter`. */
  | 'timer'
  /** A missing right was granted. */
  | 'right'
  /** A version of what it reads was recorded or deleted. */
  | 'history'
  /** Objects that it reads could not be watched, or can be watched again. */
  | 'watch'
  /** Its last reconcile left work to do. */
  | 'follow-up'
  /** All resources are enqueued from time to time. */
  | 'resync';

/** Follows what enqueues resources, for a record of their reconciles. */
export interface EnqueueTrace {
  /** `change`: that of the cause `change`. */
  onEnqueue(key: string, cause: EnqueueCause, change?: Change): void;
}

interface ResourceQueueOptions {
  /** The definition's name. */
  readonly definition: string;
  /** All resources. */
  readonly keys: () => Iterable<string>;
  /** Called before a resource is enqueued for a change outside its own reconcile. */
  readonly noteEvent: (key: string) => void;
  readonly enqueue: (key: string, priority: Priority) => void;
  /** See `OperatorOptions.trace`. */
  readonly trace?: EnqueueTrace | undefined;
}

/** The parts of an event that determine how it enqueues. */
export type EnqueuingEvent = Pick<CacheEvent, 'initial' | 'pass'> & Change;

/** Maximum number of resources that one event enqueues with normal priority. */
const sharedByMany = 100;

/** Whether so many resources depend on one object, right or namespace that it enqueues them with low priority. */
export function isSharedByMany({ size }: { readonly size: number }): boolean {
  return size > sharedByMany;
}

/** Enqueues the resources of an operator for changes outside their own reconciles. */
export class ResourceQueue {
  readonly #options: ResourceQueueOptions;

  constructor(options: ResourceQueueOptions) {
    this.#options = options;
  }

  /** `cause`: what has not changed an object. */
  enqueue(key: string, priority: Priority, cause: EnqueueCause): void {
    this.#options.trace?.onEnqueue(key, cause);
    this.#add(key, priority);
  }

  /** Enqueues a resource for an event, unless a write of its own reconcile caused it. */
  enqueueFor(key: string, event: EnqueuingEvent, isShared = false): void {
    const { pass } = event;
    if (pass?.key === key && pass.definition === this.#options.definition) return;
    this.enqueueForeign(key, event, isShared);
  }

  /** Enqueues a resource for a change that is not its own, whatever write delivered it. */
  enqueueForeign(key: string, event: EnqueuingEvent, isShared = false): void {
    this.#options.trace?.onEnqueue(key, event.initial ? 'start' : 'change', event);
    this.#add(key, event.initial || isShared ? 'low' : 'normal');
  }

  /** Enqueues a resource because of what its own reconcile found or wrote. */
  enqueueFollowUp(key: string): void {
    const { trace, enqueue } = this.#options;
    trace?.onEnqueue(key, 'follow-up');
    enqueue(key, 'normal');
  }

  /** Enqueues all resources: an informer changed its state. */
  enqueueAll(): void {
    for (const key of this.#options.keys()) this.enqueue(key, 'low', 'watch');
  }

  #add(key: string, priority: Priority): void {
    const { noteEvent, enqueue } = this.#options;
    noteEvent(key);
    enqueue(key, priority);
  }
}
