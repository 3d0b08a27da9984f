import { hostname } from 'node:os';
import {
  type ClusterConfig,
  type ClusterLoss,
  createKubeCluster,
  type KubeCluster,
} from '../kube/index.ts';
import {
  ClusterRuntime,
  type ClusterRuntimeOptions,
  type DefinitionSource,
  type RuntimeView,
} from '../runtime/index.ts';
import type { ReadableMetricRegistry } from '../telemetry/index.ts';
import { createCapacity } from './capacity.ts';
import type { Contest } from './election.ts';
import { startHealth } from './health.ts';
import { Outages } from './outages.ts';
import type { RunOptions } from './run-options.ts';

/** All that a process is made of: what of it is the same for each cluster runtime. */
export interface Serving
  extends Omit<ClusterRuntimeOptions, 'cluster' | 'sources' | 'name' | 'turns' | 'memory'> {
  readonly config: ClusterConfig;
  readonly options: RunOptions;
  readonly contest: Contest;
  readonly metrics: ReadableMetricRegistry;
  /** The sources of a cluster runtime, read anew. */
  readonly createSources: (cluster: KubeCluster) => readonly DefinitionSource[];
  /** What was there at the start, for the log. */
  readonly found: { readonly definitions: number; readonly refused: number };
}

const lossMessages: Readonly<Record<ClusterLoss, string>> = {
  outage: 'The API server is away: all work stops, and begins anew when it answers',
  restored: 'The API server has an older state than before: all work begins anew',
};

/** Serves definitions until the signal aborts, and every pass has ended. */
export async function serve(serving: Serving, signal: AbortSignal): Promise<void> {
  const server = new Server(serving);
  const { contest, options, metrics, logger } = serving;
  const health = await startHealth(options.http, {
    metrics,
    clock: serving.clock,
    view: () => server.view,
    failure: () => contest.failure(),
    observe: () => server.observe(),
  });
  try {
    logger.info({ ...serving.found, http: health?.url }, 'Starting');
    await server.run(signal);
  } finally {
    // Also of a start that fails: others need not wait until the lead has run out.
    await contest.leave();
    await health?.close();
  }
}

/** Leads, and runs one cluster runtime after the other. */
class Server {
  readonly #serving: Serving;
  readonly #capacity = createCapacity();
  readonly #outages: Outages;
  #runtime: ClusterRuntime | undefined;
  /** The cluster of the runtime, or the one that is asked whether the server is back. */
  #cluster: KubeCluster | undefined;
  #signal: AbortSignal | undefined;
  /** For the server, after an outage. */
  #isWaiting = false;

  constructor(serving: Serving) {
    this.#serving = serving;
    this.#outages = new Outages(serving);
  }

  get view(): RuntimeView {
    const { warning, leader } = this.#serving.contest;
    const { silence } = this.#cluster ?? {};
    const empty = { silence, definitions: [], refused: [], warnings: [] };
    const view = this.#runtime?.view ?? empty;
    return {
      ...view,
      isStopping: this.#signal?.aborted === true,
      ...(leader !== undefined && { follows: leader }),
      warnings: [
        ...(this.#isWaiting ? ['No definition runs until the API server answers'] : []),
        ...view.warnings,
        ...(warning === undefined ? [] : [warning]),
      ],
    };
  }

  observe(): void {
    this.#runtime?.observe();
  }

  /** Until the signal aborts, and every pass has ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const { contest } = this.#serving;
    if (!(await contest.lead(signal))) return;
    for (;;) {
      const loss = await this.#runCluster(signal);
      if (loss === undefined) return;
      this.#serving.logger.warn({ reason: loss }, lossMessages[loss]);
      this.#isWaiting = true;
      await this.#untilServing(signal);
      this.#isWaiting = false;
      if (signal.aborted) return;
    }
  }

  /** One cluster runtime, from nothing to its end. Undefined: the signal has aborted. */
  async #runCluster(signal: AbortSignal): Promise<ClusterLoss | undefined> {
    const { createSources, contest, options, ...rest } = this.#serving;
    const lost = new AbortController();
    let loss: ClusterLoss | undefined;
    const cluster = this.#createCluster((why) => {
      loss ??= why;
      lost.abort(new Error('The API server is away'));
      // Whatever waits for an answer gets none.
      void cluster.abandon();
    });
    const cutOff = contest.onLost(() => cluster.cutWrites());
    try {
      this.#runtime = new ClusterRuntime({
        ...rest,
        ...this.#capacity,
        cluster,
        sources: createSources(cluster),
        name: rest.ownsNamespace ? `${rest.namespace}/${options.leaseName}` : hostname(),
      });
      await this.#runtime.run(AbortSignal.any([signal, lost.signal]));
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
      await this.#outages.untilServing(cluster.api, signal);
    } finally {
      await cluster.close();
    }
  }

  #createCluster(onLost?: (why: ClusterLoss) => void): KubeCluster {
    const { config, clock, random, logger, metrics, contest } = this.#serving;
    this.#cluster = createKubeCluster({
      ...{ config, clock, random, logger, metrics },
      ...contest.clusterOptions,
      ...(onLost && { onLost }),
    });
    return this.#cluster;
  }
}
