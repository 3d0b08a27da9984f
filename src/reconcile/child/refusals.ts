import type { StoredObject } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { Problem } from '../failure.ts';
import { readChanged } from '../pass/follow-up.ts';
import type { Pass } from '../pass/pass.ts';
import type { Refusal } from '../resource-state.ts';
import { isChanged, isReplaced, metadataChanged } from '../wake/object-change.ts';
import type { WantedElement } from './element-result.ts';
import { forgetAnswers } from './forget-answers.ts';

/** A timer may fire that much too early; the pass that it starts must not be one in vain. */
const timerErrorMs = 20;
/** So often at most a change of the object by others has its intent sent again. */
const othersGapMs = 5_000;

/**
 * What the server has refused, so that no pass asks again for the same: until the intent, the object, the resource's own metadata or
 * a read change, a right that was missing comes, or `retry.permanent` is over (definition.md section 6); a quota and the like sooner.
 */
export function knownRefusal(
  pass: Pass,
  { intent }: Pick<WantedElement, 'intent'>,
  live: StoredObject | undefined,
): Problem | undefined {
  const refusal = pass.state.refusals.get(intent.identity);
  if (refusal === undefined) return undefined;
  const isSame =
    !isOver(pass, refusal) &&
    refusal.intent.pathHash === intent.pathHash &&
    deepEqual(refusal.intent.manifest, intent.manifest) &&
    isSameResource(pass, refusal) &&
    areSameReads(pass, refusal);
  const problem = isSame ? standing(pass, refusal, live) : undefined;
  if (problem === undefined) pass.state.refusals.delete(intent.identity);
  return problem;
}

/** What others do to the object may be the cure, or part of a fight: then it is not asked for with each of their writes. */
function standing(
  { context }: Pass,
  { problem, live: before, atMs }: Refusal,
  live: StoredObject | undefined,
): Problem | undefined {
  const change = { old: before, current: live };
  if (!isChanged(change, [])) return problem;
  const againAfterMs = atMs + othersGapMs - context.clock.monotonicMs();
  return isReplaced(change) || againAfterMs <= 0 ? undefined : { ...problem, againAfterMs };
}

/** Remembers a refusal that only another input or some time mends. */
export function noteRefusal(
  pass: Pass,
  { intent }: Pick<WantedElement, 'intent'>,
  { problem, live }: { readonly problem: Problem; readonly live: StoredObject | undefined },
): void {
  const lengthMs = refusedForMs(pass, problem);
  if (lengthMs === undefined) return;
  const atMs = pass.context.clock.monotonicMs();
  pass.state.refusals.set(intent.identity, {
    intent,
    live,
    problem,
    resource: pass.resource,
    reads: new Map(pass.reads),
    atMs,
    untilMs: atMs + lengthMs,
  });
}

/** A deletion that the server has refused for good, until a right comes or `retry.permanent` is over. */
export function knownDeletionRefusal(pass: Pass, uid: string): Problem | undefined {
  const refusal = pass.state.deletionsRefused.get(uid);
  return refusal === undefined || isOver(pass, refusal) ? undefined : refusal.problem;
}

export function noteDeletionRefusal(pass: Pass, uid: string, problem: Problem): void {
  const lengthMs = refusedForMs(pass, problem);
  if (lengthMs === undefined) return;
  const untilMs = pass.context.clock.monotonicMs() + lengthMs;
  pass.state.deletionsRefused.set(uid, { problem, untilMs });
}

/** What is not wanted any more is neither refused nor fought for any more. */
export function forgetUnwanted(pass: Pass): void {
  const { state, claims, pruned } = pass;
  forgetAnswers(pass);
  for (const uid of state.deletionsRefused.keys()) {
    const isToGo = pruned.some(({ object }) => object.metadata.uid === uid);
    if (!isToGo) state.deletionsRefused.delete(uid);
  }
  const { refusals, fights, concessions, replacements, replaced } = state;
  for (const remembered of [refusals, fights, concessions, replacements, replaced]) {
    for (const identity of remembered.keys()) {
      if (!claims.has(identity)) remembered.delete(identity);
    }
  }
}

/** Undefined: it may be tried again at any time. */
function refusedForMs({ context }: Pass, { kind, slow }: Problem): number | undefined {
  if (kind === 'permanent') return context.plan.definition.controller.retry.permanentMs;
  return slow?.firstMs;
}

function isOver({ context }: Pass, { untilMs }: Pick<Refusal, 'untilMs'>): boolean {
  return context.clock.monotonicMs() + timerErrorMs >= untilMs;
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
