import type { Clock } from '#util/clock.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { pause } from '#util/pause.ts';
import { BackendError, type QueueDepths, type ReconcileRecord } from '#web';
import type { ReconcileRecords, RecordedResource } from './console-service.ts';
import { queuesShape, recordsPageShape } from './records-page-shape.ts';

/** The query of a request for records. */
export type RecordsQuery = Readonly<Record<string, string>>;

/** How a runtime in another process is asked for its records. */
export interface RecordsClient {
  /** The answer to one request. @throws Error whose message says why there is none, and what to do */
  read(query: RecordsQuery, signal: AbortSignal): Promise<unknown>;
}

export interface RemoteRecordsOptions {
  readonly client: RecordsClient;
  readonly clock: Clock;
  /** The member cluster that the console shows. @default undefined: the cluster of the runtime */
  readonly cluster?: string;
}

/** The query of the work queues, which every leader answers. */
const queuesQuery: RecordsQuery = {};

const intervalMs = 1_000;
const searchMs = 500;
const slowProblem = 'The runtime has not answered yet: load the page again for its reconciles';

/** The records of a runtime in another process: it is asked every second while a page follows a resource. */
export class RemoteRecords implements ReconcileRecords {
  readonly #options: RemoteRecordsOptions;
  #hasAnswered = false;
  #search: Promise<string | undefined> | undefined;

  constructor(options: RemoteRecordsOptions) {
    this.#options = options;
  }

  /** Does not keep a page waiting: a runtime that has answered once is not asked again, and a slow one counts as none. */
  async findProblem(signal: AbortSignal): Promise<string | undefined> {
    if (this.#hasAnswered) return undefined;
    this.#search ??= this.#find();
    const isSlow = pause(this.#options.clock, searchMs, signal).then(() => slowProblem);
    return Promise.race([this.#search, isSlow]);
  }

  async #find(): Promise<string | undefined> {
    // Pages share it: it does not end with one of them.
    try {
      await this.#options.client.read(queuesQuery, new AbortController().signal);
      this.#hasAnswered = true;
      return undefined;
    } catch (error) {
      return messageOf(error);
    } finally {
      this.#search = undefined;
    }
  }

  async queues(signal: AbortSignal): Promise<QueueDepths> {
    const body = await this.#options.client.read(queuesQuery, signal);
    if (queuesShape(body, '') !== undefined) throw unexpected();
    return (body as { readonly queues: QueueDepths }).queues;
  }

  async *follow(
    resource: RecordedResource,
    signal: AbortSignal,
  ): AsyncGenerator<ReconcileRecord, void, undefined> {
    const { client, clock, cluster } = this.#options;
    const { apiVersion, kind, namespace, name } = resource;
    const query = {
      apiVersion,
      kind,
      name,
      ...(namespace !== undefined && { namespace }),
      ...(cluster !== undefined && { cluster }),
    };
    let after = 0;
    let process = '';
    while (!signal.aborted) {
      const page = pageOf(await client.read({ ...query, after: String(after) }, signal));
      // Another process counts from 1 again.
      const isOther = process !== '' && page.process !== process;
      process = page.process;
      // An answer from the first record on is complete, also if processes answer in turn.
      if (isOther && after > 0) {
        after = 0;
        continue;
      }
      yield* page.records;
      after = page.records.at(-1)?.number ?? after;
      await pause(clock, intervalMs, signal);
    }
  }
}

/** An answer of a runtime. */
export interface RecordsPage {
  readonly process: string;
  readonly records: readonly ReconcileRecord[];
}

/** @throws BackendError */
function pageOf(body: unknown): RecordsPage {
  if (recordsPageShape(body, '') !== undefined) throw unexpected();
  return body as RecordsPage;
}

function unexpected(): BackendError {
  return new BackendError('failed', 'Expected records of reconciles, found another answer');
}
