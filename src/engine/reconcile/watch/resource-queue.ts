import type { Priority } from '#controller';
import type { CacheEvent } from '#kube/roles.ts';
import type { Change } from './object-change.ts';

/** Why a resource is enqueued. */
export type EnqueueCause =
  /** An object has changed, been created or deleted. */
  | 'change'
  /** The first list after the start contains the object. */
  | 'start'
  /** `schedule`, `requeueAfter`. */
  | 'timer'
  /** `onDelete.timeout` has ended. */
  | 'timeout'
  /** A missing right was granted. */
  | 'right'
  /** A version of what it reads was recorded or deleted. */
  | 'history'
  /** Objects that it reads could not be watched, or can be watched again. */
  | 'watch'
  /** All resources are enqueued from time to time. */
  | 'resync'
  | FollowUpCause;

/** Why a reconcile needs another one at once. No event follows: the change was its own, or its watch came too late. */
export type FollowUpCause =
  /** It changed what it reads, or what it read has changed since. */
  | 'input-changed'
  /** Its reconciles no longer cause each other, which its condition still reports. */
  | 'stable-again'
  /** An object that a request failed without exists by now. */
  | 'object-exists'
  /** An object that had the name of a child is deleted by now. */
  | 'name-free'
  /** A child that it reverts has changed meanwhile. */
  | 'child-changed'
  /** A member cluster has changed since the reconcile began. */
  | 'cluster-changed'
  /** All children of a resource that no longer matches are removed: its finalizer can be removed. */
  | 'children-removed'
  /** Nothing needs its finalizer any more. */
  | 'finalizer-unneeded';

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

  /** A time has come: the resource is reconciled for it, as for a change outside of its own reconciles. */
  noteDue(key: string, cause: EnqueueCause): void {
    this.#options.trace?.onEnqueue(key, cause);
    this.#options.noteEvent(key);
  }

  /** Enqueues a resource because of what its own reconcile found or wrote: see `PassInput.again`. */
  enqueueFollowUp(key: string, cause: FollowUpCause): void {
    const { trace, enqueue } = this.#options;
    trace?.onEnqueue(key, cause);
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
