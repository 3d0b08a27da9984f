import type { ApiClient } from '#kube';
import { type EventRecorder, KubeError, type Watcher } from '#kube/roles.ts';
import { type Gauge, type Logger, type MetricRegistry, metricCatalogue } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { errorLogFields } from '#util/homeostat-error.ts';
import { pause, Waker } from '#util/pause.ts';
import type { Random } from '#util/random.ts';
import { orAborted } from '#util/when-aborted.ts';
import { errorMessage } from '../error-message.ts';
import {
  jitterFactor,
  LeaseClient,
  type LeaseRecord,
  leaseGvk,
  microTime,
  type ResolvedLeaseTimes,
} from './lease.ts';
import { ObservedLease } from './observed-lease.ts';
import type { WriteFence } from './write-fence.ts';

interface LeaderElectorOptions {
  readonly cluster: {
    readonly api: Pick<ApiClient, 'request'>;
    /** Watches the Lease for a follower. */
    readonly acquire: Watcher['acquire'];
    /** Records an Event for a new leader. @default none */
    readonly events?: EventRecorder;
  };
  /** Namespace of the Lease. */
  readonly namespace: string;
  readonly name: string;
  /** Unique identity of this process: `<host name>_<uuid>`. */
  readonly identity: string;
  readonly times: ResolvedLeaseTimes;
  /** The fence that the cluster client checks before each write. */
  readonly fence: WriteFence;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Called once when leadership is lost unexpectedly. The fence is closed; the process must exit. */
  readonly onLost: (reason: string) => void;
}

/** Attempts of a release: another client may change the Lease meanwhile. */
const maxReleaseAttempts = 3;

/** Errors of a write to a stale Lease. */
const conflictCodes: ReadonlySet<string> = new Set(['conflict', 'already-exists']);

/**
 * Leader election on a Lease, compatible with client-go. A leader sends one PUT per retry period; a follower only watches. Lost leadership
 * is final: the process exits.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #leases: LeaseClient;
  readonly #logger: Logger;
  readonly #gauge: Gauge;
  readonly #observed: ObservedLease;
  readonly #waker: Waker;
  readonly #won = Promise.withResolvers<void>();
  #hasWon = false;
  #lossReason: string | undefined;
  #warning: string | undefined;
  #loggedHolder: string | undefined;

  constructor(options: LeaderElectorOptions) {
    const { cluster, namespace, name, identity, clock, fence, logger, metrics, times } = options;
    this.#options = options;
    const timeoutMs = Math.max(1_000, times.renewDeadlineMs / 2);
    this.#leases = new LeaseClient({ api: cluster.api, clock, namespace, name, timeoutMs });
    this.#logger = logger.child({ lease: `${namespace}/${name}`, identity });
    this.#gauge = metrics.gauge(metricCatalogue.leaderStatus);
    this.#gauge.set(0, [name]);
    this.#observed = new ObservedLease(clock, identity);
    this.#waker = new Waker(clock);
    fence.onExpired = (reason) => this.#lose(reason);
  }

  get isLeading(): boolean {
    return this.#hasWon && this.#options.fence.isOpen;
  }

  /** Holder of the Lease if it is another process. */
  get holder(): string | undefined {
    return this.#observed.isHeldByOther ? this.#observed.holder : undefined;
  }

  /** Why leadership was lost, for health checks. */
  get failure(): string | undefined {
    return this.#lossReason;
  }

  /** Why the election fails, as a message. Undefined: no error. */
  get warning(): string | undefined {
    return this.#warning;
  }

  /** Resolves when this process is the leader; rejects when the signal aborts. */
  whenLeading(signal: AbortSignal): Promise<void> {
    return orAborted(this.#won.promise, signal);
  }

  /**
   * Acquires the Lease and renews it until the signal aborts, then releases it. Abort only after every pass has ended. Resolves when done
   * or when leadership is lost. Never rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#acquire(signal);
    await this.#renew(signal);
    if (this.isLeading) await this.#release();
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    let watch: LeaseWatch | undefined;
    try {
      while (!signal.aborted && !(await this.#tryAcquireOrRenew(signal))) {
        watch ??= this.#watch();
        this.#logHolder();
        do await this.#wait(watch, signal);
        while (!signal.aborted && watch.isCurrent() && !this.#observed.canAcquire);
      }
    } finally {
      watch?.stop();
    }
  }

  /** Renews every retry period, also after errors; the fence enforces the deadline. */
  async #renew(signal: AbortSignal): Promise<void> {
    const { clock, fence, times } = this.#options;
    let startedMs = clock.monotonicMs();
    while (!signal.aborted && fence.isOpen) {
      const restMs = startedMs + times.retryPeriodMs - clock.monotonicMs();
      await pause(clock, Math.max(0, restMs), signal);
      if (signal.aborted || !fence.isOpen) return;
      startedMs = clock.monotonicMs();
      await this.#tryAcquireOrRenew(signal);
    }
  }

  /** @returns whether this process holds the Lease now. */
  async #tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    try {
      const isOurs = await this.#acquireOrRenew(signal);
      this.#warning = undefined;
      return isOurs;
    } catch (error) {
      if (signal.aborted) return false;
      const { namespace, name } = this.#options;
      const level = this.#warning === undefined ? 'warn' : 'debug';
      this.#warning = `The Lease "${name}" in namespace "${namespace}" cannot be read or written: ${errorMessage(error)}`;
      this.#logger[level](errorLogFields(error), 'The Lease cannot be read or written, will retry');
      return false;
    }
  }

  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    // Fast path: write without a read. The API server rejects a stale write.
    if (this.#observed.isKnown && this.#observed.canAcquire && (await this.#writeLease(signal)))
      return true;
    this.#observed.setFetched(await this.#leases.get(signal));
    const { holder } = this.#observed;
    if (this.#hasWon && this.#observed.isHeldByOther) this.#lose(`"${holder}" holds the Lease`);
    return this.#observed.canAcquire && this.#lossReason === undefined && this.#writeLease(signal);
  }

  /** Writes this process as the holder. False: the known Lease was stale, or the write came too late. */
  async #writeLease(signal: AbortSignal): Promise<boolean> {
    const { clock, times, fence } = this.#options;
    const record = this.#observed.acquiredRecord(times.leaseDurationMs, microTime(clock.nowMs()));
    const startMs = clock.monotonicMs();
    if (!(await this.#write(record, signal))) return false;
    // From the start of the request: other processes count from a later time.
    if (!fence.extend(startMs + times.renewDeadlineMs)) return false;
    if (!this.#hasWon) this.#win();
    return true;
  }

  /** Creates the Lease, or replaces the known one. False: that was stale. @throws KubeError */
  async #write(record: LeaseRecord, signal: AbortSignal): Promise<boolean> {
    const { object: before } = this.#observed;
    try {
      const write =
        before === undefined
          ? this.#leases.create(record, signal)
          : this.#leases.update(before, record, signal);
      this.#observed.setWritten(await write);
      return true;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      // `not-found` for a create: the namespace is missing.
      const isGone = error.code === 'not-found' && before !== undefined;
      if (isGone || conflictCodes.has(error.code)) return false;
      throw error;
    }
  }

  #win(): void {
    const { name, cluster, identity } = this.#options;
    this.#hasWon = true;
    this.#gauge.set(1, [name]);
    this.#logger.info({}, 'Became leader');
    const { object: before } = this.#observed;
    if (before !== undefined)
      cluster.events?.record({
        regarding: before,
        type: 'Normal',
        reason: 'LeaderElection',
        action: 'Acquire',
        note: `${identity} became leader`,
        definition: 'leader-election',
      });
    this.#won.resolve();
  }

  #lose(reason: string): void {
    if (this.#lossReason !== undefined) return;
    const { fence, name, onLost } = this.#options;
    fence.close(reason);
    this.#lossReason = reason;
    this.#gauge.set(0, [name]);
    this.#logger.error({ reason }, 'Leadership lost, exiting');
    onLost(reason);
  }

  /** Releases the Lease, so that the next leader need not wait until it expires. */
  async #release(): Promise<void> {
    const { fence, name, clock } = this.#options;
    fence.close('The Lease was released');
    this.#gauge.set(0, [name]);
    const { signal } = new AbortController();
    try {
      for (let tries = 0; tries < maxReleaseAttempts; tries++) {
        if (this.#observed.object === undefined || this.#observed.isHeldByOther) return;
        const record = this.#observed.releasedRecord(microTime(clock.nowMs()));
        if (await this.#write(record, signal)) {
          this.#logger.info({}, 'Released leadership');
          return;
        }
        this.#observed.setFetched(await this.#leases.get(signal));
      }
    } catch (error) {
      this.#logger.warn(errorLogFields(error), 'The Lease could not be released and will expire');
    }
  }

  #logHolder(): void {
    const { holder } = this.#observed;
    if (holder === this.#loggedHolder || !this.#observed.isHeldByOther) return;
    this.#loggedHolder = holder;
    this.#logger.info({ holder }, 'Follower, another process is the leader');
  }

  /** Waits until the Lease may be acquirable: it expires or changes, or, without a current watch, the poll interval has passed. */
  async #wait(watch: LeaseWatch, signal: AbortSignal): Promise<void> {
    const { random, times } = this.#options;
    const pollMs = times.retryPeriodMs * (1 + jitterFactor * random.fraction());
    const { remainingMs: leftMs } = this.#observed;
    const restMs = watch.isCurrent() && leftMs > 0 ? Math.ceil(leftMs) : pollMs;
    await this.#waker.pause(restMs, signal);
  }

  /** Watches the Lease as a follower. */
  #watch(): LeaseWatch {
    const { cluster, namespace, name } = this.#options;
    const fieldSelector = `metadata.name=${name}`;
    const informer = cluster.acquire({ gvk: leaseGvk, namespace, fieldSelector });
    const observed = this.#observed;
    const unsubscribe = informer.subscribe(() => {
      observed.setWatched(informer.get(namespace, name)?.object);
      if (observed.canAcquire) this.#waker.wake();
    });
    return {
      // A missing Lease causes no event.
      isCurrent: () =>
        informer.state.kind === 'synced' && observed.isKnown && !observed.isWatchBehind,
      stop() {
        unsubscribe();
        informer.release();
      },
    };
  }
}

interface LeaseWatch {
  /** Whether the watch is synced and up to date. */
  isCurrent(): boolean;
  stop(): void;
}
