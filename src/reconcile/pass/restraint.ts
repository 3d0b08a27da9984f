import { backoffMs } from '../../util/backoff.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { StatusOutcome } from '../report/write-status.ts';
import type { ResourceState } from '../resource-state.ts';
import { unstableDelayMs } from './follow-up.ts';
import type { Pass } from './pass.ts';

/** How often a resource may run while it does not come to rest. */
export interface Restraint {
  /** The resource's own generation when this was counted: an edit of the user is a new start. */
  generation: number | undefined;
  /** When its last passes that wrote have ended; monotonic, oldest first, at most {@link writesAtMost}. */
  writes: number[];
  /** Writing passes since it was restrained for their number; 0: it is not. */
  restrainedPasses: number;
  /** Before that no pass begins, whoever wakes the resource. Monotonic. */
  notBeforeMs: number;
}

/** More writing passes than that within the window, and the resource is restrained (definition.md section 6). */
const writesAtMost = 20;
const windowMs = 60_000;
const restMs = 10_000;
/** A busy child changes the status often without anything being wrong: such a resource is slowed down step by step. */
const statusRest = { baseDelayMs: 1_000, maxDelayMs: restMs };

export function createRestraint(): Restraint {
  return { generation: undefined, writes: [], restrainedPasses: 0, notBeforeMs: 0 };
}

/** How long the resource still has to rest, in ms. */
export function remainingRestMs(
  { restraint }: ResourceState,
  { metadata }: KubeObject,
  clock: Clock,
): number {
  if (restraint.generation !== metadata.generation) {
    Object.assign(restraint, createRestraint(), { generation: metadata.generation });
  }
  return Math.max(0, restraint.notBeforeMs - clock.monotonicMs());
}

/** Is it restrained for the number of passes that wrote? */
export function isRestrained({ restraint }: ResourceState): boolean {
  return restraint.restrainedPasses > 0;
}

/**
 * The safety net: a pass that wrote counts, and when too many did, the next one has to wait; until one writes nothing. What feeds
 * itself through others (two definitions that read each other) shows in nothing else.
 */
export function noteWrites(pass: Pass, status: StatusOutcome): 'restrained' | 'released' | 'free' {
  const { restraint } = pass.state;
  const nowMs = pass.context.clock.monotonicMs();
  const { hasWritten } = pass.world;
  if (!hasWritten && status.kind !== 'written') {
    const wasRestrained = isRestrained(pass.state);
    if (wasRestrained)
      Object.assign(restraint, createRestraint(), { generation: restraint.generation });
    return wasRestrained ? 'released' : 'free';
  }
  restraint.writes = [...restraint.writes, nowMs]
    .filter((atMs) => nowMs - atMs <= windowMs)
    .slice(-writesAtMost);
  const isTooOften = restraint.writes.length === writesAtMost;
  if (!isTooOften && !isRestrained(pass.state)) return 'free';
  restraint.restrainedPasses += 1;
  restraint.notBeforeMs =
    nowMs + (hasWritten ? restMs : backoffMs(restraint.restrainedPasses - 1, statusRest));
  return 'restrained';
}

/** An unstable resource rests a little, though events from outside wake it. */
export function restUnstable(pass: Pass): void {
  const { state, context } = pass;
  const delayMs = Math.min(unstableDelayMs(state), restMs);
  state.restraint.notBeforeMs = context.clock.monotonicMs() + delayMs;
}

/** For people. */
export const restrainedText = `Its children or status were written in ${writesAtMost} passes within ${windowMs / 1_000} s though nothing of its own has changed`;
