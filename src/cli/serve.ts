import {
  type ClusterConfig,
  type ClusterLoss,
  createKubeCluster,
  type KubeCluster,
  type ServerContact,
} from '../kube/index.ts';
import type { ClusterRuntime, ClusterRuntimeOptions, RuntimeView } from '../runtime/index.ts';
import type { ReadableMetricRegistry } from '../telemetry/index.ts';
import type { Contest } from './election.ts';
import { startHealth } from './health.ts';
import { Outages } from './outages.ts';

/** All that a process is made of: what of it is the same for each cluster runtime. */
export interface Serving extends Pick<ClusterRuntimeOptions, 'clock' | 'random' | 'logger'> {
  readonly config: ClusterConfig;
  /** Where health and metrics are served, see {@link startHealth}. */
  readonly http: string;
  readonly contest: Contest;
  /** What is heard of the server, by all clusters. */
  readonly contact: ServerContact;
  readonly metrics: ReadableMetricRegistry;
  /** Called once, when this process leads: what makes a cluster runtime that begins with nothing. */
  readonly loadRuntimes: () => Promise<(cluster: KubeCluster) => ClusterRuntime>;
  /** What was there at the start, for the log. */
  readonly found: object;
}

const lossMessages: Readonly<Record<ClusterLoss, string>> = {
  outage: 'The API server is away: all work stops, and begins anew when it answers',
  restored: 'The API server has an older state than before: all work begins anew',
};

/** Serves definitions until the signal aborts, and every pass has ended. */
export async function serve(serving: Serving, signal: AbortSignal): Promise<void> {
  const server = new Server(serving);
  const { contest, http, metrics, logger } = serving;
  const health = await startHealth(http, {
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
  readonly #outages: Outages;
  #runtime: ClusterRuntime | undefined;
  #signal: AbortSignal | undefined;
  /** For the server, after an outage. */
  #isWaiting = false;

  constructor(serving: Serving) {
    this.#serving = serving;
    this.#outages = new Outages(serving);
  }

  get view(): RuntimeView {
    const { warning, leader } = this.#serving.contest;
    const { silence } = this.#serving.contact;
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
    const createRuntime = await this.#serving.loadRuntimes();
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

  /** One cluster runtime, from nothing to its end. Undefined: the signal has aborted. */
  async #runCluster(
    createRuntime: (cluster: KubeCluster) => ClusterRuntime,
    signal: AbortSignal,
  ): Promise<ClusterLoss | undefined> {
    const { contest } = this.#serving;
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
      this.#runtime = createRuntime(cluster);
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
    const { config, clock, random, logger, metrics, contest, contact } = this.#serving;
    return createKubeCluster({
      ...{ config, clock, random, logger, metrics, contact },
      ...contest.clusterOptions,
      ...(onLost && { onLost }),
    });
  }
}
