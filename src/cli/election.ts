import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubeCluster, KubeClusterOptions } from '../kube/index.ts';
import {
  createElection,
  type LeaderElector,
  type Leadership,
  type LeaseTimes,
  resolveLeaseTimes,
  soleLeader,
  WriteFence,
} from '../runtime/index.ts';
import type { Logger, MetricRegistry } from '../telemetry/index.ts';
import type { Clock } from '../util/clock.ts';
import { HomeostatError } from '../util/homeostat-error.ts';
import type { Random } from '../util/random.ts';
import { CliError } from './exit-code.ts';

/** Flags of leader election. */
export interface ElectionFlags {
  /** @default false: this process is alone */
  readonly leaderElect?: boolean;
  readonly leaseName: string;
  /** In ms. */
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
}

export interface ContestOptions {
  readonly flags: ElectionFlags;
  /** Of the Lease. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Ends the process, which has lost its leadership: nothing that is under way is waited for. */
  readonly endNow: () => void;
}

/** Leader election of this process, or what stands for it where it is alone. */
export interface Contest {
  /** For the cluster, which is made after it. */
  readonly clusterOptions: Pick<KubeClusterOptions, 'beforeWrite' | 'tellsEvents'>;
  /** Contends from now on. Resolves when it has asked for the first time who leads. */
  enter(cluster: KubeCluster): Promise<Leadership>;
  /** Why this process must not be taken for healthy. */
  failure(): string | undefined;
  /** Why nobody may lead, for people. Undefined: nothing is wrong. */
  readonly warning: string | undefined;
  /** Sends the Events that are left and gives the lead back; only after all passes have ended. */
  leave(): Promise<void>;
}

/** @throws CliError where the times do not fit together. */
export function createContest(options: ContestOptions): Contest {
  return options.flags.leaderElect === true ? new LeaseContest(options) : alone;
}

const alone: Contest = {
  clusterOptions: {},
  enter: () => Promise.resolve(soleLeader),
  failure: () => undefined,
  warning: undefined,
  leave: () => Promise.resolve(),
};

class LeaseContest implements Contest {
  readonly #options: ContestOptions;
  readonly #times: LeaseTimes;
  readonly #fence: WriteFence;
  readonly #stopper = new AbortController();
  #cluster: KubeCluster | undefined;
  #elector: LeaderElector | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: ContestOptions) {
    this.#options = options;
    this.#times = timesOf(options.flags);
    this.#fence = new WriteFence(options.clock);
  }

  get clusterOptions(): Contest['clusterOptions'] {
    return { beforeWrite: this.#fence.check, tellsEvents: () => this.#fence.isOpen };
  }

  async enter(cluster: KubeCluster): Promise<Leadership> {
    const { flags, endNow, ...rest } = this.#options;
    const elector = createElection({
      ...rest,
      cluster,
      fence: this.#fence,
      name: flags.leaseName,
      identity: `${hostname()}_${randomUUID()}`,
      times: this.#times,
      onLost: () => {
        cluster.cutWrites();
        // Another process leads now and relies on no further write from this one. The kubelet starts the process again, as a follower.
        endNow();
      },
    });
    this.#cluster = cluster;
    this.#elector = elector;
    this.#ended = elector.run(this.#stopper.signal);
    await elector.decided;
    return elector;
  }

  failure(): string | undefined {
    return this.#elector?.failure;
  }

  get warning(): string | undefined {
    return this.#elector?.warning;
  }

  async leave(): Promise<void> {
    await this.#cluster?.endEvents();
    this.#stopper.abort(new Error('Stopped'));
    await this.#ended;
  }
}

function timesOf({ leaseDuration, renewDeadline, retryPeriod }: ElectionFlags): LeaseTimes {
  const times = {
    leaseDurationMs: leaseDuration,
    renewDeadlineMs: renewDeadline,
    retryPeriodMs: retryPeriod,
  };
  try {
    return resolveLeaseTimes(times);
  } catch (error) {
    if (!(error instanceof HomeostatError)) throw error;
    throw new CliError(error.message, {
      hint: 'As in --lease-duration 15s --renew-deadline 10s --retry-period 2s',
      cause: error,
    });
  }
}
