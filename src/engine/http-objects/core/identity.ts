import { deepEqual } from '#util/deep-equal.ts';
import type { ObjectPlan } from './plan.ts';
import type { Identity, ObjectRecord } from './record.ts';
import type { View } from './view.ts';

/** The record of an object, with its identity. */
export interface Known {
  readonly record: ObjectRecord;
  readonly identity: Identity;
}

/** The identity that the spec asks for. Pure. */
export function plannedIdentity(
  { endpoint }: View,
  { params, requests: { observe, find, delete: remove } }: ObjectPlan,
  id: string | undefined,
): Identity {
  return {
    location: endpoint?.location ?? '',
    endpointUid: endpoint?.uid ?? '',
    params,
    ...(id !== undefined && { id }),
    observe,
    ...(find && { find }),
    ...(remove && { delete: remove }),
  };
}

/** Whether the spec asks for another object of the API: other parameters, or another path. Pure. */
export function isAnother(recorded: Identity, planned: Identity): boolean {
  return (
    recorded.params !== planned.params ||
    recorded.observe.path !== planned.observe.path ||
    !deepEqual(recorded.observe.query ?? {}, planned.observe.query ?? {})
  );
}

/** The record of an object that is found or created from the start. Pure. */
export function freshRecord(view: View, plan: ObjectPlan, { creates }: ObjectRecord): ObjectRecord {
  return {
    identity: plannedIdentity(view, plan, undefined),
    ...(creates !== undefined && { creates }),
  };
}
