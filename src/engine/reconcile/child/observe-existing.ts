import type { ChildPlan, ExpressionInput } from '#compile';
import { watchesOf } from '../observe/child-watches.ts';
import { isAllListed, observeChildren } from '../observe/observe-children.ts';
import { observeReads } from '../observe/observe-reads.ts';
import type { Pass } from '../pass/pass.ts';
import { isKnown, listOf } from '../watch/informer-waits.ts';
import { isElsewhere } from '../where.ts';
import { liveOf, presentInput } from './element-result.ts';

/** Do `onDelete` or `deleteWhen` read them? */
export async function observeForDeletion(pass: Pass): Promise<void> {
  const { children, onDelete } = pass.context.plan;
  if (onDelete === undefined && !children.some(({ hasDeleteWhen }) => hasDeleteWhen)) return;
  await observeExisting(pass);
}

/** Passes the existing children to expressions during a deletion. Deleted ones are not waited for. */
export async function observeExisting(pass: Pass): Promise<void> {
  const { children } = pass.context.plan;
  await pass.others?.observe(pass.others.places);
  await observeChildren(pass);
  for (const child of children) pass.desiredPhase.setChild(child.id, seenOf(pass, child));
  await observeReads(pass);
}

/** A child as it exists, in a deletion. */
export function seenOf(pass: Pass, child: ChildPlan): ExpressionInput {
  if (!isElsewhere(child)) {
    const unknown = watchesOf(pass, child).find(({ informer }) => !isKnown(informer));
    if (unknown !== undefined) return { state: 'waiting', on: listOf(unknown.informer) };
  } else if (!isAllListed(pass, child))
    return { state: 'waiting', on: `the list of ${child.gvk.kind} objects in every cluster` };
  const input = presentInput(
    child.isList,
    liveOf(pass, child).map(({ object }) => object),
  );
  return input.state === 'absent' ? { ...input, why: `child "${child.id}" does not exist` } : input;
}
