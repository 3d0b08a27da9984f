import { type ApplyOptions, KubeError, type Writer } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { type WriteLimits, WriteRateLimiter } from './write-rate-limiter.ts';

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
   * @returns the delay until the write is allowed, in ms; 0: done. Undefined: the object is deleted.
   * @throws KubeError
   */
  async report(
    object: KubeObject,
    status: Status,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { hasStatus, countsMs, onWritten } = this.#options;
    if (hasStatus(object, status, false)) return 0;
    const { name } = object.metadata;
    const delayMs = this.#pace.delayOf(name, hasStatus(object, status, true) ? countsMs : 0);
    if (delayMs > 0) return delayMs;
    this.#pace.recordWrite(name);
    if (!(await this.#write(object, status, signal))) return undefined;
    onWritten(object, status);
    return 0;
  }

  forget(name: string): void {
    this.#pace.forget(name);
  }

  /** @returns whether the object still exists. */
  async #write(
    { apiVersion, kind, metadata: { name, uid = '' } }: KubeObject,
    status: Status,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { cluster, fieldManager, writeOptionsOf } = this.#options;
    const manifest = { apiVersion, kind, metadata: { name, uid }, status };
    const options = { ...writeOptionsOf(name), fieldManager, force: true } as const;
    try {
      await cluster.apply(manifest, { ...options, subresource: 'status' }, signal);
    } catch (error) {
      // It is deleted or was created anew; an event follows.
      if (!(error instanceof KubeError) || !['not-found', 'uid-mismatch'].includes(error.code))
        throw error;
      return false;
    }
    return true;
  }
}
