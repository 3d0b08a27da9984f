import { skipOnDeleteAnnotation } from '../names.ts';
import type { Pass } from '../pass/pass.ts';

/** How a resource is being deleted. */
export interface DeletionTerms {
  /** The resource says that its deletion does without `onDelete`. */
  readonly isSkipping: boolean;
  /** Dependents first, each waited for? */
  readonly isInOrder: boolean;
  /** `onDelete.timeout` is over. */
  readonly isOverdue: boolean;
  /** Overdue, and it is to go on without what it waits for. */
  readonly givesUp: boolean;
  /** Until `onDelete.timeout` is over, in ms; undefined: it is, or there is none. */
  readonly remainingMs?: number;
}

/** The terms of a deletion as they are now. */
export function termsOf({ context, resource }: Pass): DeletionTerms {
  const { annotations, deletionTimestamp } = resource.metadata;
  const isSkipping = annotations?.[skipOnDeleteAnnotation] === 'true';
  const { onDelete } = context.plan;
  if (onDelete === undefined || isSkipping || deletionTimestamp === undefined) {
    return { isSkipping, isInOrder: false, isOverdue: false, givesUp: false };
  }
  const endsAtMs = Date.parse(deletionTimestamp) + onDelete.timeoutMs;
  const remainingMs = endsAtMs - context.clock.nowMs();
  const isOverdue = remainingMs <= 0;
  const givesUp = isOverdue && onDelete.onTimeout === 'Continue';
  return {
    isSkipping,
    isInOrder: onDelete.order === 'Reverse' && !givesUp,
    isOverdue,
    givesUp,
    ...(isOverdue ? {} : { remainingMs }),
  };
}
