import type { ApiRequest } from '#kube';
import { KubeError } from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';

/** Access reviews change nothing. */
const accessReviewPath = /^\/apis\/authorization\.k8s\.io\/v1\/selfsubjectaccessreviews$/;

/**
 * Allows writes only while this process is the leader, by its monotonic clock. Closed before the first {@link extend}; never reopens after
 * {@link close}. The cluster client calls `check` before the first byte of a write.
 */
export class WriteFence {
  readonly #clock: Clock;
  #openUntilMs: number | undefined;
  #closeReason: string | undefined;
  #onExpired: (reason: string) => void = () => {};
  #cancelTimer = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called when the fence closes because its time is over. One listener. */
  set onExpired(listener: (reason: string) => void) {
    this.#onExpired = listener;
  }

  get isOpen(): boolean {
    this.#checkExpiry();
    return this.#openUntilMs !== undefined && this.#closeReason === undefined;
  }

  /** Why the fence was closed. Undefined: it is open, or was never opened. */
  get closeReason(): string | undefined {
    this.#checkExpiry();
    return this.#closeReason;
  }

  /** Opens the fence until this monotonic time. False: it is closed, or the time has passed. */
  extend(untilMs: number): boolean {
    this.#checkExpiry();
    const nowMs = this.#clock.monotonicMs();
    if (this.#closeReason !== undefined || nowMs >= untilMs) return false;
    this.#openUntilMs = untilMs;
    this.#cancelTimer();
    // Timers may fire slightly early.
    this.#cancelTimer = this.#clock.after(Math.ceil(untilMs - nowMs) + 1, () =>
      this.#checkExpiry(),
    );
    return true;
  }

  /** Closes the fence permanently. */
  close(reason: string): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    this.#cancelTimer();
  }

  /**
   * For `KubeClusterOptions.beforeWrite`.
   * @throws KubeError `aborted` if the request would change something and this process is not the leader.
   */
  readonly check = (request: Pick<ApiRequest, 'path' | 'query'>): void => {
    if (this.isOpen || isReadOnly(request)) return;
    const why = this.#closeReason ?? 'This process is not the leader';
    throw new KubeError('aborted', `Not sent: ${why}`, { status: 0 });
  };

  /** After a frozen process resumes, the first check closes the fence, before any timer runs. */
  #checkExpiry(): void {
    if (this.#openUntilMs === undefined || this.#closeReason !== undefined) return;
    if (this.#clock.monotonicMs() < this.#openUntilMs) return;
    const reason = 'The Lease was not renewed in time';
    this.close(reason);
    this.#onExpired(reason);
  }
}

function isReadOnly({ path, query }: Pick<ApiRequest, 'path' | 'query'>): boolean {
  return accessReviewPath.test(path) || query?.dryRun === 'All';
}
