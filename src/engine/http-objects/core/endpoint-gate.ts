import type { ObjectRecord } from './record.ts';
import { settled, settledBlocked } from './settle.ts';
import { type EndpointView, isBlocked, type Step, type View } from './view.ts';

/** Annotation with the endpoint that may have the object from now on. */
export const approveEndpointAnnotation = 'homeostat.dev/approve-endpoint';

/** The text that approves an endpoint: its URL and UID. */
export function approvalOf({ location, uid }: Pick<EndpointView, 'location' | 'uid'>): string {
  return `${location} ${uid}`;
}

/**
 * Why nothing may be sent to the endpoint, or what is stored first. Undefined: requests may be sent. An object does not follow its
 * endpoint to another server, which would receive its inputs, and does not have its object.
 */
export function endpointGate(
  { endpoint, approvals, plan, metadata: { namespace } }: View,
  record: ObjectRecord,
): Step | undefined {
  if (endpoint === undefined) {
    const named = isBlocked(plan) ? 'The endpoint' : `HttpEndpoint "${plan.spec.endpoint}"`;
    const message = `${named} does not exist in namespace "${namespace}"`;
    return settled('EndpointMissing', message, { kind: 'event' });
  }
  const { identity } = record;
  const isOther =
    identity !== undefined &&
    (identity.location !== endpoint.location || identity.endpointUid !== endpoint.uid);
  if (isOther) {
    const expected = approvalOf(endpoint);
    if (approvals.endpoint !== expected)
      return settled(
        'EndpointChanged',
        `The endpoint is another one (before: "${identity.location}"). If the object is there, too, set the annotation "${approveEndpointAnnotation}" to "${expected}"`,
        { kind: 'event' },
      );
    const { location, uid: endpointUid } = endpoint;
    return {
      kind: 'store',
      record: { ...record, identity: { ...identity, location, endpointUid } },
    };
  }
  return endpoint.blocked === undefined ? undefined : settledBlocked(endpoint.blocked);
}

export function settledDamaged(): Step {
  return settled(
    'RecordDamaged',
    'The annotation "homeostat.dev/http-record" is damaged, or of a later version; remove it to find or create the object again',
    { kind: 'event' },
  );
}
