import type { FieldPath } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { backoffMs } from '../../util/backoff.ts';
import type { StatusOutcome } from '../report/write-status.ts';
import type { ResourceState } from '../resource-state.ts';
import { differingPath } from '../wake/field-values.ts';
import { observedPathChanged } from './observe-children.ts';
import { type ReadResult, readAgain } from './observe-reads.ts';
import type { Pass } from './pass.ts';

/** When a path has changed in so many follow-ups in a row, the next ones are delayed. */
const followUpsInARow = 5;
/** The same whatever paths change and whoever else wakes the resource meanwhile: two paths may take turns. */
const followUpsWithoutRest = 20;
const unstableBackoff = { baseDelayMs: 1_000, maxDelayMs: 300_000 };

/** Does the resource run again and again because of what it writes itself? */
export function isUnstable({ followUps }: ResourceState): boolean {
  // The first change is not a follow-up's yet.
  return followUps.count > followUpsInARow || followUps.withoutRest > followUpsWithoutRest;
}

/** How long an unstable resource waits before it runs again, in ms. */
export function unstableDelayMs({ followUps }: ResourceState): number {
  const inARow = followUps.count - followUpsInARow;
  const withoutRest = followUps.withoutRest - followUpsWithoutRest;
  return backoffMs(Math.max(inARow, withoutRest, 1) - 1, unstableBackoff);
}

/** A pass begins: an event from outside makes a new start. */
export function beginFollowUps({ followUps }: ResourceState): void {
  if (followUps.wokenFromOutside) followUps.count = 0;
  followUps.wokenFromOutside = false;
}

/**
 * What a pass used and is different now: a status field of ours that something outside `status` reads, or an object that
 * was read. Undefined: nothing, so that no further pass is needed.
 */
export function changedSince(pass: Pass, status: StatusOutcome): ChangedPath | undefined {
  const written = status.kind === 'written' ? statusPathChanged(pass, status.stored) : undefined;
  if (written !== undefined) return { path: written.join('.'), isOurs: true };
  const { ownChange } = pass.world;
  if (ownChange !== undefined) return { path: ownChange, isOurs: true };
  for (const before of pass.reads.values()) {
    const path = readChanged(before, readAgain(pass, before));
    if (path !== undefined) {
      return { path: ['reads', before.plan.id, ...path].join('.'), isOurs: false };
    }
  }
  const observed = observedPathChanged(pass);
  return observed && { path: observed.join('.'), isOurs: pass.world.hasWritten };
}

export interface ChangedPath {
  /** For people. */
  readonly path: string;
  /** Did this pass write it? A busy Pod that is read may change in many passes without anything being wrong. */
  readonly isOurs: boolean;
}

/** Counts a follow-up. */
export function noteFollowUp({ followUps }: ResourceState, changed: ChangedPath | undefined): void {
  const path = changed?.path;
  if (changed === undefined) {
    followUps.count = 0;
    followUps.withoutRest = 0;
  } else {
    followUps.count = path === followUps.path ? followUps.count + 1 : 1;
    if (changed.isOurs) followUps.withoutRest += 1;
  }
  followUps.path = path ?? '';
}

function statusPathChanged(pass: Pass, { object }: StoredObject): FieldPath | undefined {
  return differingPath(pass.resource, object, pass.context.plan.statusPathsRead);
}

/** The first path at which what was read differs; the empty one: something came or went. Undefined: nothing. */
export function readChanged(before: ReadResult, after: ReadResult): FieldPath | undefined {
  if (before.isKnown !== after.isKnown) return [];
  if (before.objects.length !== after.objects.length) return [];
  for (const [index, old] of before.objects.entries()) {
    const current = after.objects[index];
    if (current === undefined || old.object.metadata.uid !== current.object.metadata.uid) return [];
    const path = differingPath(old.object, current.object, before.plan.pathsRead);
    if (path !== undefined) return path;
  }
  return undefined;
}
