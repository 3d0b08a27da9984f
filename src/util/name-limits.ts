import { type GroupKind, groupKindKey } from './gvk.ts';

/** Maximum length of the value of a label. */
export const maxLabelValue = 63;

/** Maximum lengths of names that are shorter than what the server accepts, or than 253. */
export const nameLimits = { statefulSet: 52, cronJob: 52, label: 63, revised: 242 } as const;

export interface NameLimit {
  /** A longer name does not work. */
  readonly max: number;
  /** The server rejects a longer name. */
  readonly accepted: number;
}

/** The name with a hash of up to ten characters is that of a ReplicaSet or a ControllerRevision. */
const revised: NameLimit = { max: nameLimits.revised, accepted: 253 };
const dnsLabel: NameLimit = { max: nameLimits.label, accepted: nameLimits.label };

/** By `group/kind`. Names of other kinds have up to 253 characters. */
const limits: ReadonlyMap<string, NameLimit> = new Map([
  // Its Pods have the name with a hash of up to ten characters as a label.
  ['apps/StatefulSet', { max: nameLimits.statefulSet, accepted: nameLimits.label }],
  ['apps/Deployment', revised],
  ['apps/DaemonSet', revised],
  ['batch/CronJob', { max: nameLimits.cronJob, accepted: nameLimits.cronJob }],
  ['batch/Job', dnsLabel],
  ['/Namespace', dnsLabel],
  ['/Service', dnsLabel],
]);

/** The maximum length of the names of a kind, if it is less than 253. */
export function nameLimitOf(kind: GroupKind): NameLimit | undefined {
  return limits.get(groupKindKey(kind));
}
