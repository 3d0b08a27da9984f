import { type EventRecorder, KubeError, type Watcher } from '../../kube/roles.ts';
import { rightText } from '../../reconcile/index.ts';
import {
  type Gauge,
  type Logger,
  type MetricRegistry,
  metricCatalogue,
} from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { failureFields } from '../../util/failure-fields.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Random } from '../../util/random.ts';
import type { LeaseClient } from './lease-client.ts';
import { microTime } from './lease-record.ts';
import { jitterFactor, type ResolvedLeaseTimes } from './lease-settings.ts';
import { LeaseSight } from './lease-sight.ts';
import { type LeaseWatch, watchLease } from './lease-watch.ts';
import type { WriteFence } from './write-fence.ts';

export interface LeaderElectorOptions {
  readonly leases: LeaseClient;
  /** Shows the Lease to a follower, so that it need not ask. */
  readonly watcher: Pick<Watcher, 'acquire'>;
  /** Who tells of a new leader. @default nobody */
  readonly events?: EventRecorder;
  /** Nobody else's: of this very process. */
  readonly identity: string;
  readonly times: ResolvedLeaseTimes;
  readonly fence: WriteFence;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Called once, when it has lost its lead against its will, the fence being closed: nothing is left but to end. */
  readonly onLost: (reason: string) => void;
}

/** So often a release is tried: somebody may have touched the Lease. */
const releaseTries = 3;

/** Others were faster, or what was known is of before. */
const movedOn: ReadonlySet<string> = new Set(['conflict', 'already-exists', 'not-found']);

/**
 * Leader election on a Lease, as client-go does it, so that both can contend for one. While it leads it costs one PUT per retry period;
 * while it follows, a watch. A lead that is lost is never won back: the process ends.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #logger: Logger;
  readonly #gauge: Gauge;
  readonly #sight: LeaseSight;
  readonly #waiting = new Set<() => void>();
  #hasWon = false;
  #lostBecause: string | undefined;
  #failuresInARow = 0;
  #warning: string | undefined;
  #toldHolder: string | undefined;
  #wake = () => {};

  constructor(options: LeaderElectorOptions) {
    const { leases, identity, clock, fence, logger, metrics } = options;
    this.#options = options;
    this.#logger = logger.child({ lease: `${leases.namespace}/${leases.name}`, identity });
    this.#gauge = metrics.gauge(metricCatalogue.leaderStatus);
    this.#gauge.set(0, [leases.name]);
    this.#sight = new LeaseSight(clock, identity);
    fence.onExpired = (reason) => this.#lose(reason);
  }

  get isLeading(): boolean {
    return this.#hasWon && this.#options.fence.isOpen;
  }

  /** Who has the Lease, where that is another process. */
  get holder(): string | undefined {
    return this.#sight.isOthers ? this.#sight.holder : undefined;
  }

  /** For a health check: it was the leader, and is not any more. */
  get failure(): string | undefined {
    return this.#lostBecause;
  }

  /** Why nobody can be elected as far as this process can tell, for people. Undefined: nothing is wrong. */
  get warning(): string | undefined {
    return this.#warning;
  }

  /** Resolves when this process leads; rejects when the signal aborts. */
  whenLeading(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.isLeading) return resolve();
      const onAbort = () => {
        this.#waiting.delete(onWon);
        reject(signal.reason);
      };
      const onWon = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(onWon);
    });
  }

  /**
   * Contends, and then renews, until the signal aborts; then gives the Lease back, so it is to abort only after every pass has ended.
   * Resolves when all of that is done, or the lead is lost. Never rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#acquire(signal);
    await this.#keep(signal);
    if (this.isLeading) await this.#release();
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    let watch: LeaseWatch | undefined;
    try {
      while (!signal.aborted && !(await this.#try(signal))) {
        watch ??= this.#watch();
        this.#tellHolder();
        do await this.#rest(watch, signal);
        while (!signal.aborted && watch.isGood() && !this.#sight.mayTake);
      }
    } finally {
      watch?.end();
    }
  }

  /** Renews every retry period, also while it goes wrong; the fence has the deadline. */
  async #keep(signal: AbortSignal): Promise<void> {
    const { clock, fence, times } = this.#options;
    let startedMs = clock.monotonicMs();
    while (!signal.aborted && fence.isOpen) {
      const restMs = startedMs + times.retryPeriodMs - clock.monotonicMs();
      await clock.sleep(Math.max(0, restMs), signal).catch(() => {});
      if (signal.aborted || !fence.isOpen) return;
      startedMs = clock.monotonicMs();
      await this.#try(signal);
    }
  }

  /** Whether the Lease is ours now. */
  async #try(signal: AbortSignal): Promise<boolean> {
    try {
      const isOurs = await this.#takeOrJudge(signal);
      this.#failuresInARow = 0;
      this.#warning = undefined;
      return isOurs;
    } catch (error) {
      if (signal.aborted) return false;
      const { namespace, name } = this.#options.leases;
      this.#warning = `The Lease "${name}" in namespace "${namespace}" cannot be read or written: ${reasonOf(error)}`;
      const level = this.#failuresInARow++ === 0 ? 'warn' : 'debug';
      this.#logger[level](failureFields(error), 'The Lease cannot be read or written, will retry');
      return false;
    }
  }

  async #takeOrJudge(signal: AbortSignal): Promise<boolean> {
    // Fast: what is known is mostly so. The server takes it only if it is.
    if (this.#sight.isKnown && this.#sight.mayTake && (await this.#take(signal))) return true;
    this.#sight.found(await this.#options.leases.get(signal));
    const { holder } = this.#sight;
    if (this.#hasWon && this.#sight.isOthers) this.#lose(`"${holder}" has the Lease`);
    return this.#sight.mayTake && this.#lostBecause === undefined && this.#take(signal);
  }

  /** Writes our name into the Lease that is known. False: it was not so any more, or came too late. */
  async #take(signal: AbortSignal): Promise<boolean> {
    const { leases, clock, times, fence } = this.#options;
    const { before } = this.#sight;
    const record = this.#sight.claim(times.leaseDurationMs, microTime(clock.nowMs()));
    const startMs = clock.monotonicMs();
    try {
      const write =
        before === undefined
          ? leases.create(record, signal)
          : leases.update(before, record, signal);
      this.#sight.wrote(await write);
    } catch (error) {
      if (error instanceof KubeError && movedOn.has(error.code)) return false;
      throw error;
    }
    // From the start: others count from when they see it, which is later.
    if (!fence.extend(startMs + times.renewDeadlineMs)) return false;
    if (!this.#hasWon) this.#win();
    return true;
  }

  #win(): void {
    const { leases, events, identity } = this.#options;
    this.#hasWon = true;
    this.#gauge.set(1, [leases.name]);
    this.#logger.info({}, 'Leads now');
    const { before } = this.#sight;
    if (before !== undefined)
      events?.record({
        regarding: before,
        type: 'Normal',
        reason: 'LeaderElection',
        action: 'Acquire',
        note: `${identity} became leader`,
        definition: 'leader-election',
      });
    for (const onLeading of this.#waiting) onLeading();
    this.#waiting.clear();
  }

  #lose(reason: string): void {
    if (this.#lostBecause !== undefined) return;
    const { fence, leases, onLost } = this.#options;
    fence.close(reason);
    this.#lostBecause = reason;
    this.#gauge.set(0, [leases.name]);
    this.#logger.error({ reason }, 'Leads no more, the process ends');
    onLost(reason);
  }

  /** So that the next one need not wait until it has run out. */
  async #release(): Promise<void> {
    const { fence, leases, clock } = this.#options;
    fence.close('The Lease was given back');
    this.#gauge.set(0, [leases.name]);
    const { signal } = new AbortController();
    try {
      for (let tries = 0; tries < releaseTries; tries++) {
        const { before } = this.#sight;
        if (before === undefined || this.#sight.isOthers) return;
        if (await this.#giveBack(before, microTime(clock.nowMs()), signal)) return;
        this.#sight.found(await leases.get(signal));
      }
    } catch (error) {
      this.#logger.warn(failureFields(error), 'The Lease could not be given back, it runs out');
    }
  }

  async #giveBack(before: KubeObject, time: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.leases.update(before, this.#sight.release(time), signal);
      this.#logger.info({}, 'Gave the lead back');
      return true;
    } catch (error) {
      if (error instanceof KubeError && movedOn.has(error.code)) return false;
      throw error;
    }
  }

  #tellHolder(): void {
    const { holder } = this.#sight;
    if (holder === this.#toldHolder || !this.#sight.isOthers) return;
    this.#toldHolder = holder;
    this.#logger.info({ holder }, 'Follows, another process leads');
  }

  /** Until the Lease may be ours: it runs out, changes hands, or, where nobody shows it to us, it is time to ask. */
  async #rest(watch: LeaseWatch, signal: AbortSignal): Promise<void> {
    const { clock, random, times } = this.#options;
    const pollMs = times.retryPeriodMs * (1 + jitterFactor * random.fraction());
    const { leftMs } = this.#sight;
    const restMs = watch.isGood() && leftMs > 0 ? Math.ceil(leftMs) : pollMs;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await clock.sleep(restMs, AbortSignal.any([signal, woken.signal])).catch(() => {});
    this.#wake = () => {};
  }

  #watch(): LeaseWatch {
    const { leases, watcher } = this.#options;
    return watchLease({ leases, watcher, sight: this.#sight, onMayTake: () => this.#wake() });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof KubeError && error.right !== undefined) return rightText(error.right);
  return error instanceof Error ? error.message : String(error);
}
