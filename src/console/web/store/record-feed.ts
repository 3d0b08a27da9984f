import type { Clock } from '#util/clock.ts';
import { messageOf } from '#util/homeostat-error.ts';
import type { ConsoleBackend, ReconcileRecord, ResourceRef } from '../contract.ts';
import { followStream } from './follow-stream.ts';

export interface RecordFeedOptions {
  readonly backend: Pick<ConsoleBackend, 'reconciles'>;
  readonly clock: Clock;
  readonly resource: ResourceRef;
  readonly onChange: () => void;
}

/** The reconciles of a resource, as they are known. */
export interface RecordsState {
  /** Newest first. */
  readonly records: readonly ReconcileRecord[];
  /** Why they may be out of date. Empty: they are not. */
  readonly problem: string;
}

const maxRecords = 200;

/** The reconciles of one resource. */
export class RecordFeed {
  readonly #options: RecordFeedOptions;
  #state: RecordsState = { records: [], problem: '' };

  constructor(options: RecordFeedOptions) {
    this.#options = options;
  }

  get state(): RecordsState {
    return this.#state;
  }

  /** Follows them until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    const { backend, clock, resource, onChange } = this.#options;
    return followStream(
      {
        clock,
        open: (aborted) => backend.reconciles(resource, aborted),
        onValue: (record) => {
          this.#state = { records: withRecord(this.#state.records, record), problem: '' };
          onChange();
        },
        onError: (error) => {
          const problem = messageOf(error);
          this.#state = { ...this.#state, problem };
          onChange();
        },
      },
      signal,
    );
  }
}

/** After a broken stream, records are sent again. */
function withRecord(
  records: readonly ReconcileRecord[],
  record: ReconcileRecord,
): readonly ReconcileRecord[] {
  const { number, time } = record;
  const isSame = (each: ReconcileRecord) => each.number === number && each.time === time;
  const isBefore = (each: ReconcileRecord) =>
    each.time < time || (each.time === time && each.number < number);
  const others = records.some(isSame) ? records.filter((each) => !isSame(each)) : records;
  // Mostly the first place: records arrive in order.
  const at = others.findIndex(isBefore);
  return others.toSpliced(at < 0 ? others.length : at, 0, record).slice(0, maxRecords);
}
