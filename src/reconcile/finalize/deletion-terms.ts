import type { OperatorPlan } from '../../compile/index.ts';
import type { Problem } from '../failure.ts';
import { onDeleteAnnotationOf, skipOnDeleteAnnotation } from '../names.ts';
import type { Pass } from '../pass/pass.ts';
import { noteOnResource } from '../resource/write-metadata.ts';

/** On the resource: its `onDelete.children` have been ready, so that they are not made again when they are gone. */
export const doneMark = 'done';

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
  /** What could not be noted. */
  readonly problem?: Problem;
}

/** The terms of a deletion as they are now. */
export async function termsOf(pass: Pass): Promise<DeletionTerms> {
  const { context, resource } = pass;
  const { annotations, deletionTimestamp } = resource.metadata;
  const isSkipping = annotations?.[skipOnDeleteAnnotation] === 'true';
  const { onDelete } = context.plan;
  const deletedMs =
    deletionTimestamp === undefined ? context.retirement?.sinceMs : Date.parse(deletionTimestamp);
  if (onDelete === undefined || isSkipping || deletedMs === undefined) {
    return { isSkipping, isInOrder: false, isOverdue: false, givesUp: false };
  }
  const { sinceMs, problem } = await startOf(pass, onDelete, deletedMs);
  const remainingMs = sinceMs + onDelete.timeoutMs - context.clock.nowMs();
  const isOverdue = remainingMs <= 0;
  const givesUp = isOverdue && onDelete.onTimeout === 'Continue';
  return {
    isSkipping,
    isInOrder: onDelete.order === 'Reverse' && !givesUp,
    isOverdue,
    givesUp,
    ...(isOverdue ? {} : { remainingMs }),
    ...(problem && { problem }),
  };
}

interface Start {
  /** When the time began to count: wall clock, ms. */
  readonly sinceMs: number;
  readonly problem?: Problem;
}

/**
 * The time of a deletion counts from the deletion. Where it may end without what it waits for, and nobody was there while it ran, it
 * counts from the first try, which is noted on the resource: nothing is given up that was never tried.
 */
async function startOf(
  pass: Pass,
  { timeoutMs, onTimeout }: NonNullable<OperatorPlan['onDelete']>,
  deletedMs: number,
): Promise<Start> {
  const { context, resource, state } = pass;
  const annotation = onDeleteAnnotationOf(context.plan.name);
  const mark = resource.metadata.annotations?.[annotation] ?? '';
  if (onTimeout !== 'Continue' || mark === doneMark) return { sinceMs: deletedMs };
  const notedMs = Date.parse(mark);
  // A restored backup may bring an old note along.
  if (notedMs > deletedMs) return { sinceMs: notedMs };
  if (state.endingSinceMs !== undefined) return { sinceMs: state.endingSinceMs };
  const nowMs = context.clock.nowMs();
  if (nowMs < deletedMs + timeoutMs) {
    state.endingSinceMs = deletedMs;
    return { sinceMs: deletedMs };
  }
  const problem = await noteOnResource(pass, { [annotation]: new Date(nowMs).toISOString() });
  if (problem !== undefined) return { sinceMs: nowMs, problem };
  state.endingSinceMs = nowMs;
  return { sinceMs: nowMs };
}
