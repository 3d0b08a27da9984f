import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type ClusterConfig,
  createKubeCluster,
  type KubeCluster,
  type KubeClusterOptions,
  type ServerContact,
} from '../kube/index.ts';
import {
  createElection,
  type LeaderElector,
  type LeaseTimes,
  resolveLeaseTimes,
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
  readonly config: ClusterConfig;
  /** Of the Lease. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** What is heard of the server. */
  readonly contact: ServerContact;
  /** Ends the process, which has lost its leadership: nothing that is under way is waited for. */
  readonly endNow: () => void;
}

/** Leader election of this process, or what stands for it where it is alone. */
export interface Contest {
  /** For each cluster that is made. */
  readonly clusterOptions: Pick<KubeClusterOptions, 'beforeWrite' | 'tellsEvents'>;
  /** Contends until this process leads, or the signal aborts (false). Called once. */
  lead(signal: AbortSignal): Promise<boolean>;
  /** Who leads; undefined: this process does, or nothing is known. */
  readonly leader: string | undefined;
  /** Calls back when the lead is lost, before the process ends. Returns the unsubscribe function. */
  onLost(listener: () => void): () => void;
  /** Why this process must not be taken for healthy. */
  failure(): string | undefined;
  /** Why no process may lead, for people. Undefined: nothing is wrong. */
  readonly warning: string | undefined;
  /** Gives the lead back; only after all passes have ended. */
  leave(): Promise<void>;
}

/** @throws CliError where the times do not fit together. */
export function createContest(options: ContestOptions): Contest {
  return options.flags.leaderElect === true ? new LeaseContest(options) : alone;
}

const alone: Contest = {
  clusterOptions: {},
  lead: () => Promise.resolve(true),
  leader: undefined,
  onLost: () => () => {},
  failure: () => undefined,
  warning: undefined,
  leave: () => Promise.resolve(),
};

class LeaseContest implements Contest {
  readonly #fence: WriteFence;
  readonly #stopper = new AbortController();
  readonly #lostListeners = new Set<() => void>();
  readonly #cluster: KubeCluster;
  readonly #elector: LeaderElector;
  #ended: Promise<void> | undefined;

  constructor(options: ContestOptions) {
    const { flags, endNow, config, ...rest } = options;
    const { clock, random, logger, metrics, contact } = rest;
    this.#fence = new WriteFence(clock);
    // Its own: the Lease outlives outages, and a follower has nothing else.
    this.#cluster = createKubeCluster({
      ...{ config, clock, random, logger, metrics, contact },
      ...this.clusterOptions,
    });
    this.#elector = createElection({
      ...rest,
      cluster: this.#cluster,
      fence: this.#fence,
      name: flags.leaseName,
      identity: `${hostname()}_${randomUUID()}`,
      times: timesOf(flags),
      onLost: () => {
        for (const listener of [...this.#lostListeners]) listener();
        // Another process leads now and relies on no further write from this one. The kubelet starts the process again, as a follower.
        endNow();
      },
    });
  }

  get clusterOptions(): Contest['clusterOptions'] {
    return { beforeWrite: this.#fence.check, tellsEvents: () => this.#fence.isOpen };
  }

  async lead(signal: AbortSignal): Promise<boolean> {
    this.#ended = this.#elector.run(this.#stopper.signal);
    await this.#elector.whenLeading(signal).catch(() => {});
    return this.#elector.isLeading && !signal.aborted;
  }

  get leader(): string | undefined {
    return this.#elector.holder;
  }

  onLost(listener: () => void): () => void {
    this.#lostListeners.add(listener);
    return () => this.#lostListeners.delete(listener);
  }

  failure(): string | undefined {
    return this.#elector.failure;
  }

  get warning(): string | undefined {
    return this.#elector.warning;
  }

  async leave(): Promise<void> {
    this.#stopper.abort(new Error('Stopped'));
    await this.#ended;
    await this.#cluster.close();
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
