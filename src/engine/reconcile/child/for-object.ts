import type { StoredObject } from '#kube/roles.ts';
import { withMissingFields } from '../intent/left-fields.ts';
import type { Pass } from '../pass/pass.ts';
import { asAdopted } from './adopt.ts';
import type { DesiredElement } from './element-result.ts';

/** An element with the intent for the object that exists: what is left to it, and what marks an adopted one. */
export function forObject(
  pass: Pass,
  desired: DesiredElement,
  live: StoredObject | undefined,
): DesiredElement {
  if (live === undefined) return desired;
  const intent = withMissingFields(desired.plan, desired.intent, live.object);
  return asAdopted(pass, intent === desired.intent ? desired : { ...desired, intent }, live);
}
