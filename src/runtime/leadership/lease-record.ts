import type { KubeObject } from '../../util/kube-object.ts';

export const leaseGvk = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' } as const;

/** What a Lease says, as client-go reads it. */
export interface LeaseRecord {
  /** Empty: nobody's. */
  readonly holder: string;
  readonly durationSeconds: number;
  /** RFC 3339 with microseconds, by the clock of whoever wrote it: for people, never to be compared. */
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly transitions: number;
}

/** What is not said, or of a wrong type, is as in a Lease that nobody holds. */
export function recordOf({ spec }: KubeObject): LeaseRecord {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } =
    (spec ?? {}) as Readonly<Record<string, unknown>>;
  return {
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    durationSeconds: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0,
    ...(typeof acquireTime === 'string' && { acquireTime }),
    ...(typeof renewTime === 'string' && { renewTime }),
    transitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
  };
}

/** The `spec` of a record. */
export function specOf(record: LeaseRecord): Readonly<Record<string, unknown>> {
  const { holder, durationSeconds, acquireTime, renewTime, transitions } = record;
  return {
    ...(holder !== '' && { holderIdentity: holder }),
    leaseDurationSeconds: durationSeconds,
    ...(acquireTime !== undefined && { acquireTime }),
    ...(renewTime !== undefined && { renewTime }),
    leaseTransitions: transitions,
  };
}

/** RFC 3339 with microseconds, as the API has it for a `MicroTime`. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
