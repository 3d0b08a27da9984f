import { type ApplyOptions, KubeError, type Writer } from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';
import { deepEqual } from '#util/deep-equal.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type WriteLimits, WriteRateLimiter } from './write-rate-limiter.ts';

type Metadata = KubeObject['metadata'];

interface StatusReporterOptions<Status extends object> {
  readonly cluster: Pick<Writer, 'apply'>;
  readonly clock: Clock;
  readonly fieldManager: string;
  readonly limits: WriteLimits;
  /** Minimum time between writes that change only counts, in ms. */
  readonly countsMs: number;
  /** Of the writes to one object. */
  readonly writeOptionsOf: (name: string) => Pick<ApplyOptions, 'flow' | 'pass'>;
  /** Whether the object has this status. `ignoresCounts`: also if only counts differ, which are not urgent. */
  readonly hasStatus: (object: KubeObject, status: Status, ignoresCounts: boolean) => boolean;
  /** Called after each write with the object before it, for Events. */
  readonly onWritten: (before: KubeObject, status: Status) => void;
  /**
   * Called when the response of a write shows that another client has changed the object, too. The cache has the response, so that no event
   * of that change may follow.
   */
  readonly onForeignChange: (name: string) => void;
}

/** A status that was written, needs no write, or must wait. */
export interface StatusReport {
  /** Delay until the write is allowed, in ms; 0: `object` has the status. */
  readonly afterMs: number;
  readonly object: KubeObject;
}

/** Writes the status of objects of a kind of Homeostat: when it has changed, and at a limited rate. */
export class StatusReporter<Status extends object> {
  readonly #options: StatusReporterOptions<Status>;
  readonly #pace: WriteRateLimiter;

  constructor(options: StatusReporterOptions<Status>) {
    this.#options = options;
    this.#pace = new WriteRateLimiter(options.clock, options.limits);
  }

  /**
   * Writes the status if the object does not have it.
   * @returns undefined: the object is deleted.
   * @throws KubeError
   */
  async report(
    object: KubeObject,
    status: Status,
    signal: AbortSignal,
  ): Promise<StatusReport | undefined> {
    const { hasStatus, countsMs, onWritten } = this.#options;
    if (hasStatus(object, status, false)) return { afterMs: 0, object };
    const { name } = object.metadata;
    const delayMs = this.#pace.delayOf(name, hasStatus(object, status, true) ? countsMs : 0);
    if (delayMs > 0) return { afterMs: delayMs, object };
    this.#pace.recordWrite(name);
    const stored = await this.#write(object, status, signal);
    if (stored === undefined) return undefined;
    onWritten(object, status);
    if (isChanged(object, stored)) this.#options.onForeignChange(name);
    return { afterMs: 0, object: stored };
  }

  forget(name: string): void {
    this.#pace.forget(name);
  }

  /** @returns the stored object. Undefined: it does not exist any more. */
  async #write(
    { apiVersion, kind, metadata: { name, uid = '' } }: KubeObject,
    status: Status,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const { cluster, fieldManager, writeOptionsOf } = this.#options;
    const manifest = { apiVersion, kind, metadata: { name, uid }, status };
    const options = { ...writeOptionsOf(name), fieldManager, force: true } as const;
    try {
      const written = { ...options, subresource: 'status' } as const;
      return (await cluster.apply(manifest, written, signal)).stored.object;
    } catch (error) {
      // It is deleted or was created anew; an event follows.
      if (!(error instanceof KubeError) || !['not-found', 'uid-mismatch'].includes(error.code))
        throw error;
      return undefined;
    }
  }
}

/** Whether two states of an object differ in more than the status. */
function isChanged({ metadata: before }: KubeObject, { metadata: after }: KubeObject): boolean {
  const relevant = ({
    generation,
    deletionTimestamp,
    labels,
    annotations,
    finalizers,
  }: Metadata) => ({
    generation,
    isDeleted: deletionTimestamp !== undefined,
    labels,
    annotations,
    finalizers,
  });
  return !deepEqual(relevant(before), relevant(after));
}
