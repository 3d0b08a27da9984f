import type { ChildPlan } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { covers, differenceDigest, differences } from '../intent/covers.ts';
import type { Difference } from '../intent/difference.ts';
import type { Intent } from '../intent/intent.ts';
import { appliedHashOf, intentHash, intentHashOf } from '../intent/marks.ts';
import { fieldManagerOf } from '../names.ts';
import { observesItself } from '../observe/observe-children.ts';
import type { Given, Pass } from '../pass/pass.ts';
import type { WantedElement } from './element-result.ts';

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
export function isAppliedLast({ state }: Given, intent: Intent): boolean {
  const last = state.attempts.appliedIntents.get(intent.topic);
  return last?.pathHash === intent.pathHash && deepEqual(last.manifest, intent.manifest);
}

/** Did we apply exactly these fields last? */
function isMarked({ context }: Given, { plan, intent, live }: Compared): boolean {
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

/** The hash of an intent, what is left to others included. */
export function hashOfIntent({ uid }: Given, { whole, manifest }: Intent): string {
  return intentHash(whole ?? manifest, uid);
}

/**
 * Has the intent changed since the object was made, or is only the object different? An object that does not say what it was made of is
 * taken for changed by others: it is mended, and says so from then on.
 */
export function hasNewIntent(pass: Pass, wanted: WantedElement, live: StoredObject): boolean {
  const { intent } = wanted;
  const made = intentHashOf(live.object);
  if (made === undefined || made === hashOfIntent(pass, intent)) return false;
  // Where all that is wanted is there, only the way in which we write it down has changed.
  const comparison = compareIntent(pass, { plan: wanted.plan, intent, live });
  if (comparison.kind === 'same') return false;
  const applied = appliedHashOf(live.object);
  return comparison.found.length > 0 || (applied !== undefined && applied !== intent.pathHash);
}

/** Does an object of this child say which intent it was made of last? A Secret never does. */
export function keepsIntentHash({ gvk, updateStrategy }: ChildPlan): boolean {
  const { type, rollingUpdate } = updateStrategy;
  const isNeeded = type === 'Recreate' || (type === 'Apply' && rollingUpdate !== undefined);
  return isNeeded && !(gvk.group === '' && gvk.kind === 'Secret');
}
