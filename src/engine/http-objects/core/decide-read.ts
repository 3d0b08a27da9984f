import { confirmAbsent } from './confirm-absent.ts';
import type { ObjectPlan } from './plan.ts';
import { type ObjectRecord, withId } from './record.ts';
import {
  atNextLook,
  settledAsDesired,
  settledFailure,
  settledMissingCode,
  settledMissingId,
  settledObserved,
  settledSeveral,
} from './settle.ts';
import { foundIn, type Step, type View } from './view.ts';

/** What to do about an object that is only observed. It has no record, and no finalizer. */
export function decideRead(view: View, plan: ObjectPlan, record: ObjectRecord): Step {
  // An edit has removed its requests that write.
  if (record.identity !== undefined) return { kind: 'release', note: 'It is only observed' };
  const { answers } = view.seen;
  let id: string | undefined;
  if (plan.needsId && plan.requests.find !== undefined) {
    const { find } = answers;
    if (find === undefined) return { kind: 'send', role: 'find', request: plan.requests.find };
    if (find.kind === 'failed') return settledFailure(find.failure);
    if (find.kind === 'absent') return confirmAbsent(view) ?? notFound();
    const found = foundIn(view.seen);
    if (found[0] === undefined) return notFound();
    if (found.length > 1) return settledSeveral(found.length);
    id = found[0].id;
    if (id === undefined) return settledMissingCode(view, 'find');
  }
  const request = withId(plan.requests.observe, id);
  if (request === undefined) return settledMissingId();
  const { observe } = answers;
  if (observe === undefined) return { kind: 'send', role: 'observe', request };
  if (observe.kind === 'failed') return settledFailure(observe.failure);
  if (observe.kind === 'absent') return confirmAbsent(view) ?? notFound();
  return settledAsDesired();
}

function notFound(): Step {
  return settledObserved('NotFound', 'The object does not exist', atNextLook);
}
