import type { OperatorPlan } from '#compile';
import { onDeleteAnnotationOf, skipOnDeleteAnnotation } from '#util/stored-names.ts';
import type { Problem } from '../failure.ts';
import type { Pass } from '../pass/pass.ts';
import { annotateResource } from '../resource/write-metadata.ts';

/** Value of the annotation once `onDelete.children` have been ready: they are not created again after their deletion. */
export const doneValue = 'done';

/** How a resource is deleted. */
export interface DeletionOptions {
  /** The resource has the annotation that skips `onDelete`. */
  readonly skipsOnDelete: boolean;
  /** Are dependents deleted first, and waited for? */
  readonly isReverseOrder: boolean;
  /** `onDelete.timeout` has ended. */
  readonly isOverdue: boolean;
  /** Overdue with `onTimeout: Continue`: the deletion proceeds without what it waits for. */
  readonly isForced: boolean;
  /** Time until the end of `onDelete.timeout`, in ms; undefined: it has ended, or there is none. */
  readonly remainingMs?: number;
  /** An error in writing the start of the timeout. */
  readonly problem?: Problem;
}

/** The current options of a deletion. */
export async function deletionOptionsOf(pass: Pass): Promise<DeletionOptions> {
  const { context, resource } = pass;
  const { annotations, deletionTimestamp } = resource.metadata;
  const skipsOnDelete = annotations?.[skipOnDeleteAnnotation] === 'true';
  const { onDelete } = context.plan;
  const deletedMs =
    deletionTimestamp === undefined ? context.uninstall?.sinceMs : Date.parse(deletionTimestamp);
  if (onDelete === undefined || skipsOnDelete || deletedMs === undefined) {
    return { skipsOnDelete, isReverseOrder: false, isOverdue: false, isForced: false };
  }
  const { sinceMs, problem } = await timeoutStartOf(pass, onDelete, deletedMs);
  const remainingMs = sinceMs + onDelete.timeoutMs - context.clock.nowMs();
  const isOverdue = remainingMs <= 0;
  const isForced = isOverdue && onDelete.onTimeout === 'Continue';
  return {
    skipsOnDelete,
    isReverseOrder: onDelete.order === 'Reverse' && !isForced,
    isOverdue,
    isForced,
    ...(isOverdue ? {} : { remainingMs }),
    ...(problem && { problem }),
  };
}

/**
 * The timeout of a deletion starts with the deletion. With `onTimeout: Continue`, it starts with the first attempt if no process was running
 * before; an annotation of the resource has that time. So no object is abandoned without an attempt to delete it.
 * @returns its start by the wall clock, in ms
 */
async function timeoutStartOf(
  pass: Pass,
  { timeoutMs, onTimeout }: NonNullable<OperatorPlan['onDelete']>,
  deletedMs: number,
): Promise<{ readonly sinceMs: number; readonly problem?: Problem }> {
  const { context, resource, state } = pass;
  const annotation = onDeleteAnnotationOf(context.plan.name);
  const mark = resource.metadata.annotations?.[annotation] ?? '';
  if (onTimeout !== 'Continue' || mark === doneValue) return { sinceMs: deletedMs };
  const recordedMs = Date.parse(mark);
  // A restored backup may have an old annotation.
  if (recordedMs > deletedMs) return { sinceMs: recordedMs };
  if (state.finalizingSinceMs !== undefined) return { sinceMs: state.finalizingSinceMs };
  const nowMs = context.clock.nowMs();
  if (nowMs < deletedMs + timeoutMs) {
    state.finalizingSinceMs = deletedMs;
    return { sinceMs: deletedMs };
  }
  const problem = await annotateResource(pass, { [annotation]: new Date(nowMs).toISOString() });
  if (problem !== undefined) return { sinceMs: nowMs, problem };
  state.finalizingSinceMs = nowMs;
  return { sinceMs: nowMs };
}
