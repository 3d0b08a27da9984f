import type { StoredObject } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { Problem } from '../failure.ts';
import type { Refusal } from '../resource-state.ts';
import { isChanged, metadataChanged } from '../wake/object-change.ts';
import type { WantedElement } from './element-result.ts';
import { readChanged } from './follow-up.ts';
import type { Pass } from './pass.ts';

/**
 * What the server has refused for good, so that no pass asks again for the same: until the intent, the object, the resource's own
 * metadata or a read change, a right that was missing comes, or `retry.permanent` is over (definition.md section 6).
 */
export function knownRefusal(
  pass: Pass,
  { intent }: WantedElement,
  live: StoredObject | undefined,
): Problem | undefined {
  const refusal = pass.state.refusals.get(intent.identity);
  if (refusal === undefined) return undefined;
  const isSame =
    !isOver(pass, refusal) &&
    refusal.intent.pathHash === intent.pathHash &&
    deepEqual(refusal.intent.manifest, intent.manifest) &&
    !isChanged({ old: refusal.live, current: live }, []) &&
    isSameResource(pass, refusal) &&
    areSameReads(pass, refusal);
  if (isSame) return refusal.problem;
  pass.state.refusals.delete(intent.identity);
  return undefined;
}

/** Remembers a refusal that only another input mends. */
export function noteRefusal(
  pass: Pass,
  { intent }: WantedElement,
  { problem, live }: { readonly problem: Problem; readonly live: StoredObject | undefined },
): void {
  if (problem.kind !== 'permanent') return;
  pass.state.refusals.set(intent.identity, {
    intent,
    live,
    problem,
    resource: pass.resource,
    reads: new Map(pass.reads),
    atMs: pass.context.clock.monotonicMs(),
  });
}

/** A deletion that the server has refused for good, until a right comes or `retry.permanent` is over. */
export function knownDeletionRefusal(pass: Pass, uid: string): Problem | undefined {
  const refusal = pass.state.deletionsRefused.get(uid);
  return refusal === undefined || isOver(pass, refusal) ? undefined : refusal.problem;
}

export function noteDeletionRefusal({ state, context }: Pass, uid: string, problem: Problem): void {
  if (problem.kind !== 'permanent') return;
  state.deletionsRefused.set(uid, { problem, atMs: context.clock.monotonicMs() });
}

/** What is not wanted any more is neither refused nor fought for any more. */
export function forgetUnwanted({ state, claims, pruned }: Pass): void {
  for (const uid of state.deletionsRefused.keys()) {
    const isToGo = pruned.some(({ object }) => object.metadata.uid === uid);
    if (!isToGo) state.deletionsRefused.delete(uid);
  }
  for (const remembered of [state.refusals, state.fights, state.concessions]) {
    for (const identity of remembered.keys()) {
      if (!claims.has(identity)) remembered.delete(identity);
    }
  }
}

function isOver({ context }: Pass, { atMs }: Pick<Refusal, 'atMs'>): boolean {
  const { permanentMs } = context.plan.definition.controller.retry;
  return context.clock.monotonicMs() - atMs >= permanentMs;
}

function isSameResource({ resource }: Pass, before: Refusal): boolean {
  return (
    resource.metadata.generation === before.resource.metadata.generation &&
    !metadataChanged(before.resource, resource)
  );
}

function areSameReads({ reads }: Pass, before: Refusal): boolean {
  if (reads.size !== before.reads.size) return false;
  for (const [id, now] of reads) {
    const then = before.reads.get(id);
    if (then === undefined || readChanged(then, now) !== undefined) return false;
  }
  return true;
}
