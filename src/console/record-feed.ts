import type { ReconcileRecord } from '../web/index.ts';

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
  readonly #listeners = new Set<(record: ReconcileRecord) => void>();

  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  /** @returns the weight of the record that was dropped for it */
  add(record: ReconcileRecord): number {
    this.records.push(record);
    for (const listener of this.#listeners) listener(record);
    const dropped = this.records.length > maxRecords ? this.records.shift() : undefined;
    return dropped === undefined ? 0 : recordWeight(dropped);
  }

  /** The records, then each that is added, until the signal aborts. */
  async *follow(signal: AbortSignal): AsyncGenerator<ReconcileRecord, void, undefined> {
    const pending = [...this.records];
    let wake: () => void = () => undefined;
    const listener = (record: ReconcileRecord) => {
      pending.push(record);
      wake();
    };
    const onAbort = () => wake();
    this.#listeners.add(listener);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      while (!signal.aborted) {
        yield* pending.splice(0);
        if (pending.length > 0 || signal.aborted) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#listeners.delete(listener);
    }
  }
}
