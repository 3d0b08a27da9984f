import { decideDeletion } from './decide-deletion.ts';
import { decideExistence } from './decide-existence.ts';
import { decideRead } from './decide-read.ts';
import { endpointGate, settledDamaged } from './endpoint-gate.ts';
import { settled, settledBlocked } from './settle.ts';
import { isBlocked, type Step, type View } from './view.ts';

/**
 * What to do next about one object: a request, a write of its record, or nothing. Depends on the durable record, the spec, the answers
 * of this reconcile and the time only, so a new process continues where another one ended. Pure.
 */
export function decide(view: View): Step {
  const { plan, record } = view;
  if (view.metadata.deletionTimestamp !== undefined) return decideDeletion(view, record);
  if (record === undefined) return settledDamaged();
  if (isBlocked(plan)) return settledBlocked(plan);
  const { endpoint } = view;
  if (endpoint?.isTerminating === true)
    return settled('EndpointTerminating', 'The endpoint is being deleted', { kind: 'event' });
  const gate = endpointGate(view, record);
  if (gate !== undefined) return gate;
  return plan.isReadOnly ? decideRead(view, plan, record) : decideExistence(view, plan, record);
}
