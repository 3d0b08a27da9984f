import { deepEqual } from '#util/deep-equal.ts';
import { decideReplacement } from './decide-replacement.ts';
import { establish, sendCreate } from './establish.ts';
import { isAnother, plannedIdentity } from './identity.ts';
import { keep } from './keep.ts';
import type { ObjectPlan } from './plan.ts';
import { type Identity, type ObjectRecord, usesId } from './record.ts';
import { recover } from './recover.ts';
import { settledManaged } from './settle.ts';
import type { Step, View } from './view.ts';

/** What to do about an object that should exist. */
export function decideExistence(view: View, plan: ObjectPlan, record: ObjectRecord): Step {
  const { identity, pending } = record;
  const planned = plannedIdentity(view, plan, identity?.id);
  if (identity === undefined) return { kind: 'store', record: { ...record, identity: planned } };
  const isOther = isAnother(identity, planned);
  if (pending !== undefined) {
    if (view.seen.armed === pending.key) return sendCreate(view, plan, { record, pending });
    const isRepeatable = !isOther && plan.requests.create?.method === 'PUT' && !plan.needsId;
    const hasSecret = plan.hasOneTimeSecret;
    return recover(view, { record, identity, pending, isRepeatable, hasSecret });
  }
  if (isOther && isCorrected(record, planned))
    return { kind: 'store', record: { ...record, identity: planned } };
  if (isOther) return decideReplacement(view, plan, record);
  if (!deepEqual(identity, planned))
    return { kind: 'store', record: { ...record, identity: planned } };
  const owner = view.conflictOf('planned');
  if (owner !== undefined) return settledManaged(owner);
  const known = { record, identity };
  return record.isOwned === true ? keep(view, plan, known) : establish(view, plan, known);
}

/** An edit of `observe` that never returned the object is no other object. */
function isCorrected({ isUnobserved, identity }: ObjectRecord, planned: Identity): boolean {
  const isSame = identity?.params === planned.params;
  return isUnobserved === true && isSame && usesId(planned.observe) === (planned.id !== undefined);
}
