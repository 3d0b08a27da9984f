import type { Clock } from '../../util/clock.ts';
import { pause } from '../../util/pause.ts';
import type { ConsoleBackend, ReconcileRecord, ResourceRef } from '../contract.ts';

export interface RecordFeedOptions {
  readonly backend: Pick<ConsoleBackend, 'reconciles'>;
  readonly clock: Clock;
  readonly resource: ResourceRef;
  readonly onChange: () => void;
}

const maxRecords = 200;
const retryMs = 1_000;

/** The reconciles of one resource, newest first. */
export class RecordFeed {
  readonly #options: RecordFeedOptions;
  #records: readonly ReconcileRecord[] = [];

  constructor(options: RecordFeedOptions) {
    this.#options = options;
  }

  get records(): readonly ReconcileRecord[] {
    return this.#records;
  }

  /** Follows them until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { backend, clock, resource } = this.#options;
    while (!signal.aborted) {
      try {
        for await (const record of backend.reconciles(resource, signal)) this.#add(record);
      } catch {
        // The indicator of the connection shows it; the records that are known stay.
      }
      await pause(clock, retryMs, signal);
    }
  }

  /** After a broken stream, records are sent again. */
  #add(record: ReconcileRecord): void {
    const others = this.#records.filter(
      ({ number, time }) => number !== record.number || time !== record.time,
    );
    this.#records = [record, ...others]
      .sort((a, b) => (a.time === b.time ? b.number - a.number : a.time < b.time ? 1 : -1))
      .slice(0, maxRecords);
    this.#options.onChange();
  }
}
