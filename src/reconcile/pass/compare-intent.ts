import type { ChildPlan } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { covers, differenceDigest, differences } from '../intent/covers.ts';
import { fieldsOf } from '../intent/field-names.ts';
import { appliedHashOf } from '../intent/stamp.ts';
import { fieldManagerOf } from '../names.ts';
import type { Intent } from './build-intent.ts';
import type { Pass } from './pass.ts';

export interface Compared {
  readonly plan: ChildPlan;
  readonly intent: Intent;
  readonly live: StoredObject;
}

export type Comparison =
  | { readonly kind: 'same' }
  /** `fields`: whose values differ; none when only something that we dropped from the intent is still ours. */
  | { readonly kind: 'different'; readonly fields: readonly string[] };

/** Is a live object as wanted, so that an apply would change nothing? */
export function compareIntent(pass: Pass, compared: Compared): Comparison {
  const { intent, plan, live } = compared;
  if (isMarked(pass, compared) && covers(intent.manifest, live.object, plan.type)) {
    return { kind: 'same' };
  }
  const remembered = pass.state.serverMade.get(intent.topic);
  if (remembered !== undefined && remembered === fingerprint(pass, compared)) {
    return { kind: 'same' };
  }
  return {
    kind: 'different',
    fields: fieldsOf(differences(intent.manifest, live.object, plan.type)),
  };
}

/**
 * Remembers what the server made of an intent, from its answer to our own apply: what differs there is not drift and
 * would differ again after every further apply.
 */
export function rememberAnswer(pass: Pass, applied: Compared): void {
  const { plan, intent } = applied;
  const { serverMade, appliedIntents } = pass.state;
  const isAsWanted =
    isMarked(pass, applied) && covers(intent.manifest, applied.live.object, plan.type);
  if (isAsWanted) serverMade.delete(intent.topic);
  else serverMade.set(intent.topic, fingerprint(pass, applied));
  if (plan.after.length > 0) appliedIntents.set(intent.topic, intentDigest(intent));
}

/** Identity of an intent's values, for the children that `after` may hold. */
export function intentDigest({ manifest }: Intent): string {
  return sha256Hex(canonicalJson(manifest));
}

/** Did we apply exactly these fields last? */
function isMarked({ context }: Pass, { intent, live }: Compared): boolean {
  return (
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
