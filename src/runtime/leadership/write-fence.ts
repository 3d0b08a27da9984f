import type { ApiRequest } from '../../kube/index.ts';
import { KubeError } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';

/** Asks for rights; stores nothing. */
const reviews = /^\/apis\/authorization\.k8s\.io\/v1\/selfsubjectaccessreviews$/;

/**
 * Between this process and every write: open while it leads, by its own clock. `check` is given to the client of the cluster, which
 * asks before the first byte of a write. Not open before the first {@link extend}; once closed it stays so.
 */
export class WriteFence {
  readonly #clock: Clock;
  #openUntilMs: number | undefined;
  #closedBecause: string | undefined;
  #onExpired: (reason: string) => void = () => {};
  #cancelTimer = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Its time being over it has closed: called at once, from whoever notices. One listener. */
  set onExpired(listener: (reason: string) => void) {
    this.#onExpired = listener;
  }

  get isOpen(): boolean {
    this.#look();
    return this.#openUntilMs !== undefined && this.#closedBecause === undefined;
  }

  /** Why it was closed for good; undefined: it is open, or has not been opened yet. */
  get closedBecause(): string | undefined {
    this.#look();
    return this.#closedBecause;
  }

  /** Opens it until then (monotonic). False: it was closed before, or the time is over already. */
  extend(untilMs: number): boolean {
    this.#look();
    const nowMs = this.#clock.monotonicMs();
    if (this.#closedBecause !== undefined || nowMs >= untilMs) return false;
    this.#openUntilMs = untilMs;
    this.#cancelTimer();
    // Platforms let a timer fire a little early.
    this.#cancelTimer = this.#clock.after(Math.ceil(untilMs - nowMs) + 1, () => this.#look());
    return true;
  }

  /** Closes it for good. */
  close(reason: string): void {
    if (this.#closedBecause !== undefined) return;
    this.#closedBecause = reason;
    this.#cancelTimer();
  }

  /**
   * For `KubeClusterOptions.beforeWrite`.
   * @throws KubeError `aborted` where the request would change something and this process does not lead.
   */
  readonly check = (request: Pick<ApiRequest, 'path' | 'query'>): void => {
    if (this.isOpen || changesNothing(request)) return;
    const why = this.#closedBecause ?? 'This process does not lead';
    throw new KubeError('aborted', `Not sent: ${why}`, { status: 0 });
  };

  /** A process that was frozen hears of the end of its time from whoever asks first, before any timer runs. */
  #look(): void {
    if (this.#openUntilMs === undefined || this.#closedBecause !== undefined) return;
    if (this.#clock.monotonicMs() < this.#openUntilMs) return;
    const reason = 'The Lease was not renewed in time';
    this.close(reason);
    this.#onExpired(reason);
  }
}

function changesNothing({ path, query }: Pick<ApiRequest, 'path' | 'query'>): boolean {
  return reviews.test(path) || query?.dryRun === 'All';
}
