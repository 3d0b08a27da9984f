import type { OperatorPlan } from '#compile';
import type { Clock } from '#util/clock.ts';
import type { PruneCandidate } from '../prune-candidate.ts';
import { refOfRecord, type StateRecord } from './record.ts';
import { isKept, type RecordStore } from './record-store.ts';
import type { TrackedOwner, Tracks } from './tracks.ts';

/** A record that is to be deleted. */
export function candidateOf(record: StateRecord): PruneCandidate {
  return {
    ref: refOfRecord(record),
    uid: record.meta.uid ?? '',
    childId: `history of ${record.readId}`,
  };
}

/** When all records of a deleted object expire, in ms of the wall clock. Undefined: never, or the object exists. */
export function expiryOf(
  records: readonly StateRecord[],
  { reads }: Pick<OperatorPlan, 'reads'>,
): number | undefined {
  const newest = records.at(-1);
  const read = reads.find(({ id }) => id === newest?.readId);
  if (newest?.deletedAt === undefined || read?.history === undefined) return undefined;
  const expiryMs = Date.parse(newest.deletedAt) + read.history.keepDeletedMs;
  return Number.isNaN(expiryMs) ? undefined : expiryMs;
}

interface RemovalContext {
  readonly store: RecordStore;
  readonly tracks: Tracks;
  readonly plan: OperatorPlan;
  /** Wall clock. */
  readonly nowMs: number;
}

/**
 * Records of a resource that are no longer to be kept: beyond `keep`, of deleted objects after `keepDeleted`, and of reads that keep no
 * versions any more.
 */
export function removableRecords(
  ownerUid: string,
  { store, tracks, plan, nowMs }: RemovalContext,
): readonly PruneCandidate[] {
  return [...store.seriesOf(ownerUid)].flatMap((records) => {
    const [first] = records;
    if (first === undefined || !hasKind(plan, first)) return [];
    const track = tracks.ofSeries(first.series);
    // The oldest record is deleted after a new one is written.
    if (track?.isBusy === true) return [];
    const keep = plan.reads.find(({ id }) => id === first.readId)?.history?.keep;
    const isExpected = keep !== undefined && isKept(plan, first);
    const isExpired = (expiryOf(records, plan) ?? Infinity) <= nowMs;
    if (!isExpected || isExpired) return records.map(candidateOf);
    return track?.holdsOldest === true ? [] : records.slice(0, -(keep + 1)).map(candidateOf);
  });
}

/** Does the revision have records of this kind? Those of another kind are left to the revision that has. */
function hasKind({ history }: OperatorPlan, { gvk }: StateRecord): boolean {
  return history?.recordKinds.some(({ kind }) => kind === gvk.kind) === true;
}

interface ExpiryContext {
  readonly store: RecordStore;
  readonly clock: Clock;
  /** Enqueues the resource. */
  readonly enqueue: (key: string) => void;
}

/** Enqueues a resource when the next of its records expire. Replaces the earlier timer. */
export function scheduleExpiry(
  tracked: TrackedOwner,
  { store, clock, enqueue }: ExpiryContext,
): void {
  const { key, uid } = tracked.owner;
  const { plan } = tracked.revision;
  const expiries = [...store.seriesOf(uid)].map((records) => expiryOf(records, plan));
  const nextMs = expiries.reduce<number>(
    (least, each = Infinity) => Math.min(least, each),
    Infinity,
  );
  tracked.cancelExpiry?.();
  tracked.cancelExpiry =
    nextMs === Infinity
      ? undefined
      : clock.after(Math.max(0, nextMs - clock.nowMs()), () => enqueue(key));
}
