/** Progress of a changed definition through its existing resources. */
export interface RolloutView {
  /** Revisions. */
  readonly from: string;
  readonly to: string;
  /**
   * `previewing`: renders all resources with the new plan, writes nothing; `rolling`; `held`: would delete more than `maxDeletions` objects,
   * or one that holds data, and waits for approval (`DeletionsHeld`); `stopped`: too many resources failed.
   */
  readonly state: 'previewing' | 'rolling' | 'held' | 'stopped';
  readonly reached: number;
  readonly total: number;
  /** Objects that the roll-out deletes, according to the preview. */
  readonly deletions: number;
  /** Those of them that hold data and still exist: titles for people, sorted, at most 20. @default undefined: none */
  readonly dataObjects?: readonly string[];
  /** UIDs of resources that fail with `to` and did not fail before, sorted; at most `stopAfterFailures`. */
  readonly failed: readonly string[];
  /** For people. */
  readonly message: string;
}

/** Persisted part of an unfinished roll-out, from which the next process continues. A preview is repeated. */
export interface RolloutRecord extends Pick<RolloutView, 'from' | 'to' | 'failed'> {
  readonly state: Exclude<RolloutView['state'], 'previewing'>;
}

/** What is persisted of a roll-out. Pure. */
export function rolloutRecordOf({
  from,
  to,
  state,
  failed,
}: Pick<RolloutView, 'from' | 'to' | 'state' | 'failed'>): RolloutRecord {
  return { from, to, state: state === 'previewing' ? 'rolling' : state, failed };
}

/** A roll-out that has not started. Pure. */
export function notStarted(
  rollout: Pick<RolloutView, 'from' | 'to' | 'state' | 'failed'>,
): RolloutView {
  return { ...rollout, reached: 0, total: 0, deletions: 0, message: 'Not started' };
}

/** Whether both are of the same revisions. Pure. */
export function isSameRollout(
  a: Pick<RolloutView, 'from' | 'to'>,
  b: Pick<RolloutView, 'from' | 'to'> | undefined,
): boolean {
  return a.from === b?.from && a.to === b.to;
}
