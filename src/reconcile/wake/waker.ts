import type { Priority } from '../../controller/index.ts';
import type { PassToken } from '../../kube/roles.ts';

/** Puts a resource into the queue because something outside its own pass changed. */
export interface Waker {
  readonly definition: string;
  wake(key: string, priority: Priority): void;
  /** An informer that passes had to do without has become usable, or not: everybody looks again. */
  wakeAll(): void;
}

/** What of an event says how it wakes. */
export interface WakingEvent {
  /** Part of a first list. */
  readonly initial: boolean;
  /** The pass whose write it is the answer to. */
  readonly pass?: PassToken;
}

/** Wakes a resource for an event, unless the event is the answer to a write of its own pass. */
export function wakeFor(
  waker: Waker,
  key: string,
  { event, shared = false }: { readonly event: WakingEvent; readonly shared?: boolean },
): void {
  if (event.pass?.key === key && event.pass.definition === waker.definition) return;
  waker.wake(key, event.initial || shared ? 'low' : 'normal');
}
