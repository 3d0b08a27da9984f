import type { ChangedPath } from '../attempt/pace.ts';
import type { Pass } from '../pass/pass.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { differingPath } from '../wake/field-values.ts';
import { readChanged } from '../wake/object-change.ts';
import { observedPathChanged } from './observe-children.ts';
import { readAgain } from './observe-reads.ts';

/**
 * What a pass used and is different now: a status field of ours that something outside `status` reads, or an object that
 * was read. Undefined: nothing, so that no further pass is needed.
 */
export function changedSince(pass: Pass, status: StatusOutcome): ChangedPath | undefined {
  const { statusPathsRead } = pass.context.plan;
  const written =
    status.kind === 'written'
      ? differingPath(pass.resource, status.stored.object, statusPathsRead)
      : undefined;
  if (written !== undefined) return { path: written.join('.'), isOurs: true };
  const { ownChange } = pass.did;
  if (ownChange !== undefined) return { path: ownChange, isOurs: true };
  for (const before of pass.found.reads.values()) {
    const path = readChanged(before, readAgain(pass, before));
    if (path !== undefined) {
      return { path: ['reads', before.plan.id, ...path].join('.'), isOurs: false };
    }
  }
  const observed = observedPathChanged(pass);
  return observed && { path: observed.join('.'), isOurs: pass.did.hasWritten };
}
