import { StreamQueue } from '#util/stream-queue.ts';
import { whenAborted } from '#util/when-aborted.ts';
import type { ReconcileRecord } from '#web';

/** Records of one resource that are kept. */
const maxRecords = 200;

/** How much of the bound of all records one takes. */
export function recordWeight({ children, requests }: ReconcileRecord): number {
  return 1 + children.length + requests.length;
}

/** The records of one resource. */
export class Feed {
  /** Oldest first. */
  readonly records: ReconcileRecord[] = [];
  readonly #followers = new Set<StreamQueue<ReconcileRecord>>();

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  /** @returns the weight of the record that was dropped for it */
  add(record: ReconcileRecord): number {
    this.records.push(record);
    for (const queue of this.#followers) queue.push(record);
    const dropped = this.records.length > maxRecords ? this.records.shift() : undefined;
    return dropped === undefined ? 0 : recordWeight(dropped);
  }

  /** The records, then each that is added, until the signal aborts. */
  async *follow(signal: AbortSignal): AsyncGenerator<ReconcileRecord, void, undefined> {
    const queue = new StreamQueue<ReconcileRecord>();
    for (const record of this.records) queue.push(record);
    void whenAborted(signal).then(() => queue.end());
    this.#followers.add(queue);
    try {
      yield* queue;
    } finally {
      this.#followers.delete(queue);
    }
  }
}
