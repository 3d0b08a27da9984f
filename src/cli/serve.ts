import type { ReconcileRecorder } from '#console';
import type { RecordsQuery } from '#http';
import {
  type ClusterConfig,
  type ClusterLossReason,
  createKubeCluster,
  type KubeCluster,
  type ServerAvailability,
  type ServerPolicy,
} from '#kube';
import {
  type ClusterRuntime,
  type ClusterRuntimeOptions,
  type ConnectMember,
  queuesOf,
  type RuntimeView,
} from '#runtime';
import type { LogMessage, ReadableMetricRegistry } from '#telemetry';
import { anySignal } from '#util/any-signal.ts';
import { startHealth } from './health.ts';
import type { LeaderElection } from './leader-election.ts';
import { memberClients } from './member-clients.ts';
import { OutageBackoff } from './outage-backoff.ts';

/** The parts of a process that all cluster runtimes share. */
export interface ServeOptions extends Pick<ClusterRuntimeOptions, 'clock' | 'random' | 'logger'> {
  readonly config: ClusterConfig;
  /** Where health and metrics are served, see {@link startHealth}. */
  readonly http: string;
  readonly election: LeaderElection;
  /** Which servers the kubeconfigs of members may name. */
  readonly servers: ServerPolicy;
  /** What is heard of the server, by all clusters. */
  readonly availability: ServerAvailability;
  readonly metrics: ReadableMetricRegistry;
  /** The records of reconciles, and the token of clients that may read them. @default undefined: nothing is recorded */
  readonly records?: {
    readonly recorder: Pick<ReconcileRecorder, 'read'>;
    readonly readToken: () => Promise<string>;
  };
  /** Called once, when this process becomes leader. Returns the function that creates a cluster runtime. */
  readonly loadRuntimeFactory: () => Promise<CreateRuntime>;
  /** Fields of the log line at the start. */
  readonly startFields: object;
}

type CreateRuntime = (cluster: KubeCluster, connect: ConnectMember) => ClusterRuntime;

const lossMessages: Readonly<Record<ClusterLossReason, LogMessage>> = {
  outage: 'The API server is unreachable, stopping all controllers until it responds',
  restored: 'The API server has an older state than before, restarting all controllers',
};

/** Serves definitions. Resolves when the signal has aborted and every reconcile has ended. */
export async function serve(serving: ServeOptions, signal: AbortSignal): Promise<void> {
  const server = new RuntimeSupervisor(serving);
  const { election, http, metrics, logger, records } = serving;
  const health = await startHealth(http, {
    metrics,
    clock: serving.clock,
    view: () => server.view,
    failure: () => election.failure(),
    observe: () => server.observe(),
    ...(records && {
      records: {
        readToken: records.readToken,
        read: (query?: RecordsQuery) => {
          if (!server.isLeading) return undefined;
          if (query === undefined) return { queues: queuesOf(server.view) };
          return records.recorder.read(query, query.after);
        },
      },
    }),
  });
  try {
    logger.info({ ...serving.startFields, http: health?.url }, 'Starting');
    await server.run(signal);
  } finally {
    // Also after a failed start: other processes need not wait until the Lease expires.
    await election.release();
    await health?.close();
  }
}

/** Leads, and runs one cluster runtime after the other. */
class RuntimeSupervisor {
  readonly #serving: ServeOptions;
  readonly #outages: OutageBackoff;
  #runtime: ClusterRuntime | undefined;
  #signal: AbortSignal | undefined;
  #isLeading = false;
  /** Whether it waits for the server after an outage. */
  #isWaiting = false;

  constructor(serving: ServeOptions) {
    this.#serving = serving;
    this.#outages = new OutageBackoff(serving);
  }

  get view(): RuntimeView {
    const { warning, leader } = this.#serving.election;
    const { unreachable } = this.#serving.availability;
    const empty = { unreachable, definitions: [], rejected: [], warnings: [] };
    const view = this.#runtime?.view ?? empty;
    return {
      ...view,
      isStopping: this.#signal?.aborted === true,
      ...(leader !== undefined && { leader }),
      warnings: [
        ...(this.#isWaiting ? ['No definition runs until the API server responds'] : []),
        ...view.warnings,
        ...(warning === undefined ? [] : [warning]),
      ],
    };
  }

  /** Whether this process is the leader, also while the API server is unreachable. */
  get isLeading(): boolean {
    return this.#isLeading;
  }

  observe(): void {
    this.#runtime?.observe();
  }

  /** Resolves when the signal has aborted and every reconcile has ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const { election } = this.#serving;
    if (!(await election.waitForLeadership(signal))) return;
    this.#isLeading = true;
    const createRuntime = await this.#serving.loadRuntimeFactory();
    for (;;) {
      const loss = await this.#runCluster(createRuntime, signal);
      if (loss === undefined) return;
      this.#serving.logger.warn({ reason: loss }, lossMessages[loss]);
      this.#isWaiting = true;
      await this.#untilServing(signal);
      this.#isWaiting = false;
      if (signal.aborted) return;
    }
  }

  /** Runs one cluster runtime. Undefined: the signal has aborted. */
  async #runCluster(
    createRuntime: CreateRuntime,
    signal: AbortSignal,
  ): Promise<ClusterLossReason | undefined> {
    const { election } = this.#serving;
    const lost = new AbortController();
    let loss: ClusterLossReason | undefined;
    const cluster = this.#createCluster((why) => {
      loss ??= why;
      lost.abort(new Error('The API server is unreachable'));
      // Requests that wait for a response fail.
      void cluster.disconnect();
    });
    const cutOff = election.onLost(() => cluster.dropPendingWrites());
    try {
      this.#runtime = createRuntime(cluster, memberClients(this.#serving));
      await this.#runtime.run(anySignal([signal, lost.signal]));
    } finally {
      await cluster.close();
      cutOff();
      this.#runtime = undefined;
    }
    return signal.aborted ? undefined : loss;
  }

  async #untilServing(signal: AbortSignal): Promise<void> {
    const cluster = this.#createCluster();
    try {
      await this.#outages.waitUntilServing(cluster.api, signal);
    } finally {
      await cluster.close();
    }
  }

  #createCluster(onLost?: (why: ClusterLossReason) => void): KubeCluster {
    const { config, clock, random, logger, metrics, election, availability } = this.#serving;
    return createKubeCluster({
      config,
      clock,
      random,
      logger,
      metrics,
      availability,
      ...election.clusterOptions,
      ...(onLost && { onLost }),
    });
  }
}
