import type { ChildPlan } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import { fieldManagerOf } from '#util/stored-names.ts';
import { covers, differenceDigest, differences } from '../intent/compare.ts';
import type { Difference } from '../intent/difference.ts';
import { type Intent, isAppliedHash, isSameIntent } from '../intent/intent.ts';
import { appliedHashOf, intentHash, intentHashOf } from '../intent/marks.ts';
import { observesItself } from '../observe/observe-children.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import type { DesiredElement } from './element-result.ts';

/** An intent and the child that it is of. */
type ComparedIntent = Pick<DesiredElement, 'plan' | 'intent'>;

/**
 * The differing values of a live object. Empty: only a dropped field is still ours, or the annotation of the applied intent is missing.
 * Undefined: it is as desired, so that an apply would change nothing.
 */
export function differencesOf(
  pass: Pass,
  desired: ComparedIntent,
  live: StoredObject,
): readonly Difference[] | undefined {
  const { intent, plan } = desired;
  if (isLastApplied(pass, desired, live) && covers(intent.manifest, live.object, plan.type))
    return undefined;
  const remembered = pass.state.responses.serverDefaults.get(intent.identity);
  if (remembered !== undefined && remembered === fingerprint(pass, desired, live)) return undefined;
  return differences(intent.manifest, live.object, plan.type);
}

/**
 * Stores how the server's response to our own apply differs from the intent. Such differences are not drift: they would remain after
 * every further apply.
 */
export function rememberResponse(pass: Pass, desired: ComparedIntent, answer: StoredObject): void {
  const { plan, intent } = desired;
  const { serverDefaults } = pass.state.responses;
  const isAsDesired =
    isLastApplied(pass, desired, answer) && covers(intent.manifest, answer.object, plan.type);
  if (isAsDesired) serverDefaults.delete(intent.identity);
  else serverDefaults.set(intent.identity, fingerprint(pass, desired, answer));
  rememberIntent(pass, plan, intent);
}

/** Stores the last applied intent of an object whose next intent may be held. */
export function rememberIntent(pass: Pass, plan: ChildPlan, intent: Intent): void {
  // For a child that observes itself, an old intent may no longer be desired.
  if (observesItself(plan) || plan.updateStrategy.type === 'OnDelete') return;
  const { after, childrenRead, readsUsed, updateStrategy, hasGate } = plan;
  const mayWait =
    after.length + childrenRead.length + readsUsed.length > 0 ||
    updateStrategy.rollingUpdate !== undefined ||
    hasGate === true;
  if (mayWait) pass.state.responses.appliedIntents.set(intent.identity, intent);
}

/** Was this intent the last one applied, so that another manager changed the object? */
export function isAppliedLast({ state }: PassInput, intent: Intent): boolean {
  const last = state.responses.appliedIntents.get(intent.identity);
  return last !== undefined && isSameIntent(last, intent);
}

/** Did our last apply have exactly these fields? */
function isLastApplied(
  { context }: PassInput,
  { plan, intent }: ComparedIntent,
  live: StoredObject,
): boolean {
  return (
    (!keepsIntentHash(plan) || intentHashOf(live.object) !== undefined) &&
    isAppliedHash(intent, appliedHashOf(live.object)) &&
    live.appliedBy.includes(fieldManagerOf(context.plan.name))
  );
}

function fingerprint(pass: Pass, { plan, intent }: ComparedIntent, live: StoredObject): string {
  const found = differences(intent.manifest, live.object, plan.type);
  const marks = [
    intent.pathHash,
    appliedHashOf(live.object) ?? '',
    live.appliedBy.includes(fieldManagerOf(pass.context.plan.name)),
  ];
  return `${marks.join(' ')} ${differenceDigest(found)}`;
}

/** The hash of an intent, including ignored fields. */
export function hashOfIntent({ uid }: PassInput, { fullManifest, manifest }: Intent): string {
  return intentHash(fullManifest ?? manifest, uid);
}

/**
 * Has the intent changed since the object was created, or only the object? An object without the hash counts as changed by others: the
 * repair adds the hash.
 */
export function hasNewIntent(pass: Pass, desired: DesiredElement, live: StoredObject): boolean {
  const { intent } = desired;
  const last = intentHashOf(live.object);
  if (last === undefined || last === hashOfIntent(pass, intent)) return false;
  // If the object is as desired, only the representation of the intent has changed.
  const found = differencesOf(pass, desired, live);
  if (found === undefined) return false;
  const applied = appliedHashOf(live.object);
  return found.length > 0 || (applied !== undefined && !isAppliedHash(intent, applied));
}

/** Do objects of this child have the hash of their last intent? Secrets never do. */
export function keepsIntentHash({ gvk, updateStrategy, hasGate }: ChildPlan): boolean {
  const { type, rollingUpdate } = updateStrategy;
  const isNeeded =
    type === 'Recreate' ||
    type === 'RecreateIfImmutable' ||
    (type === 'Apply' && (rollingUpdate !== undefined || hasGate === true));
  return isNeeded && !(gvk.group === '' && gvk.kind === 'Secret');
}
