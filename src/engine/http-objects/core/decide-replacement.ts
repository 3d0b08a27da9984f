import { deleteFar, mayExist } from './decide-deletion.ts';
import { freshRecord } from './identity.ts';
import type { ObjectPlan } from './plan.ts';
import type { ObjectRecord } from './record.ts';
import { atEvent, settled } from './settle.ts';
import type { Step, View } from './view.ts';

/** An edit names another object of the API: the previous one is deleted first, if the spec asks for it. */
export function decideReplacement(view: View, plan: ObjectPlan, record: ObjectRecord): Step {
  const fresh: Step = { kind: 'store', record: freshRecord(view, plan, record) };
  if (!mayExist(record)) return fresh;
  if (plan.spec.onIdentityChange === 'Hold')
    return settled(
      'IdentityChanged',
      `The edit names another object ("${plan.requests.observe.path}"). Undo it, or set "onIdentityChange: Replace", which deletes the previous object`,
      atEvent,
    );
  const step = deleteFar(view, record);
  return step.kind === 'release' ? fresh : step;
}
