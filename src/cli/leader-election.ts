import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type ClusterConfig,
  createKubeCluster,
  type KubeCluster,
  type KubeClusterOptions,
  type ServerAvailability,
} from '#kube';
import { LeaderElector, type ResolvedLeaseTimes, resolveLeaseTimes, WriteFence } from '#runtime';
import type { Logger, MetricRegistry } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { Random } from '#util/random.ts';
import { CliError } from './exit-code.ts';
import type { ElectionFlags } from './run-options.ts';

interface LeaderElectionOptions {
  readonly flags: ElectionFlags;
  /** See `electsLeader`. */
  readonly isElected: boolean;
  readonly config: ClusterConfig;
  /** Namespace of the Lease. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Whether the API server is available. */
  readonly availability: ServerAvailability;
  /** Ends the process after it has lost its leadership, without waiting for running requests. */
  readonly exitNow: () => void;
}

/** Leader election of this process; without one it is always the leader. */
export interface LeaderElection {
  /** Options for each cluster client. */
  readonly clusterOptions: Pick<KubeClusterOptions, 'beforeWrite' | 'shouldSendEvents'>;
  /** Resolves when this process is the leader, or with false when the signal aborts. Called once. */
  waitForLeadership(signal: AbortSignal): Promise<boolean>;
  /** The leader. Undefined: this process, or unknown. */
  readonly leader: string | undefined;
  /** Subscribes to the loss of leadership, before the process ends. Returns the unsubscribe function. */
  onLost(listener: () => void): () => void;
  /** Why this process is unhealthy. Undefined: it is healthy. */
  failure(): string | undefined;
  /** Why no process may lead, for people. Undefined: nothing is wrong. */
  readonly warning: string | undefined;
  /** Releases the Lease. Call it after all reconciles have ended. */
  release(): Promise<void>;
}

/** @throws CliError for times that contradict each other. */
export function createLeaderElection(options: LeaderElectionOptions): LeaderElection {
  return options.isElected ? new LeaseElection(options) : withoutElection;
}

const withoutElection: LeaderElection = {
  clusterOptions: {},
  waitForLeadership: () => Promise.resolve(true),
  leader: undefined,
  onLost: () => () => {},
  failure: () => undefined,
  warning: undefined,
  release: () => Promise.resolve(),
};

class LeaseElection implements LeaderElection {
  readonly #fence: WriteFence;
  readonly #stopper = new AbortController();
  readonly #lostListeners = new Set<() => void>();
  readonly #cluster: KubeCluster;
  readonly #elector: LeaderElector;
  #ended: Promise<void> | undefined;

  constructor(options: LeaderElectionOptions) {
    const { flags, isElected: _, exitNow: endNow, config, ...rest } = options;
    const { clock, random, logger, metrics, availability } = rest;
    this.#fence = new WriteFence(clock);
    // A client of its own: the Lease is renewed across outages, and a follower needs no other client.
    this.#cluster = createKubeCluster({
      config,
      clock,
      random,
      logger,
      metrics,
      availability,
      ...this.clusterOptions,
    });
    this.#elector = new LeaderElector({
      ...rest,
      cluster: this.#cluster,
      fence: this.#fence,
      name: flags.leaseName,
      identity: `${hostname()}_${randomUUID()}`,
      times: resolveTimes(flags),
      onLost: () => {
        for (const listener of [...this.#lostListeners]) listener();
        // Another process is the leader, so this one must not write any more. The kubelet restarts it as a follower.
        endNow();
      },
    });
  }

  get clusterOptions(): LeaderElection['clusterOptions'] {
    return { beforeWrite: this.#fence.check, shouldSendEvents: () => this.#fence.isOpen };
  }

  async waitForLeadership(signal: AbortSignal): Promise<boolean> {
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

  async release(): Promise<void> {
    this.#stopper.abort(new Error('Stopped'));
    await this.#ended;
    await this.#cluster.close();
  }
}

function resolveTimes({
  leaseDuration,
  renewDeadline,
  retryPeriod,
}: ElectionFlags): ResolvedLeaseTimes {
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
