import type { ChildPlan } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { covers, differenceDigest, differences } from '../intent/covers.ts';
import type { Difference } from '../intent/difference.ts';
import type { Intent } from '../intent/intent.ts';
import { intentHashOf } from '../intent/intent-hash.ts';
import { appliedHashOf } from '../intent/stamp.ts';
import { fieldManagerOf } from '../names.ts';
import { observesItself } from '../observe/observe-children.ts';
import type { Pass } from '../pass/pass.ts';
import { keepsIntentHash } from './keeps-intent-hash.ts';

export interface Compared {
  readonly plan: ChildPlan;
  readonly intent: Intent;
  readonly live: StoredObject;
}

export type Comparison =
  | { readonly kind: 'same' }
  /** `found`: whose values differ; none when only something that we dropped from the intent is still ours, or our mark is not. */
  | { readonly kind: 'different'; readonly found: readonly Difference[] };

/** Is a live object as wanted, so that an apply would change nothing? */
export function compareIntent(pass: Pass, compared: Compared): Comparison {
  const { intent, plan, live } = compared;
  if (isMarked(pass, compared) && covers(intent.manifest, live.object, plan.type)) {
    return { kind: 'same' };
  }
  const remembered = pass.state.attempts.serverMade.get(intent.topic);
  if (remembered !== undefined && remembered === fingerprint(pass, compared)) {
    return { kind: 'same' };
  }
  return { kind: 'different', found: differences(intent.manifest, live.object, plan.type) };
}

/**
 * Remembers what the server made of an intent, from its answer to our own apply: what differs there is not drift and
 * would differ again after every further apply.
 */
export function rememberAnswer(pass: Pass, applied: Compared): void {
  const { plan, intent } = applied;
  const { serverMade } = pass.state.attempts;
  const isAsWanted =
    isMarked(pass, applied) && covers(intent.manifest, applied.live.object, plan.type);
  if (isAsWanted) serverMade.delete(intent.topic);
  else serverMade.set(intent.topic, fingerprint(pass, applied));
  rememberIntent(pass, plan, intent);
}

/** Remembers what an object was made to be, where its next intent may be held back. */
export function rememberIntent(pass: Pass, plan: ChildPlan, intent: Intent): void {
  // Of a child that looks at itself an old intent is not what it is to be.
  if (observesItself(plan) || plan.updateStrategy.type === 'OnDelete') return;
  const { after, childrenRead, readsUsed, updateStrategy } = plan;
  const mayWait =
    after.length + childrenRead.length + readsUsed.length > 0 ||
    updateStrategy.rollingUpdate !== undefined;
  if (mayWait) pass.state.attempts.appliedIntents.set(intent.topic, intent);
}

/** Is the intent the one that was applied last, so that somebody else changed the object? */
export function isAppliedLast({ state }: Pass, intent: Intent): boolean {
  const last = state.attempts.appliedIntents.get(intent.topic);
  return last?.pathHash === intent.pathHash && deepEqual(last.manifest, intent.manifest);
}

/** Did we apply exactly these fields last? */
function isMarked({ context }: Pass, { plan, intent, live }: Compared): boolean {
  return (
    (!keepsIntentHash(plan) || intentHashOf(live.object) !== undefined) &&
    appliedHashOf(live.object) === intent.pathHash &&
    live.appliedBy.includes(fieldManagerOf(context.plan.name))
  );
}

function fingerprint(pass: Pass, { plan, intent, live }: Compared): string {
  const found = differences(intent.manifest, live.object, plan.type);
  const marks = [
    intent.pathHash,
    appliedHashOf(live.object) ?? '',
    live.appliedBy.includes(fieldManagerOf(pass.context.plan.name)),
  ];
  return `${marks.join(' ')} ${differenceDigest(found)}`;
}
