import type { LocatedDefinition } from '#definition';
import { type ApiRequest, type ClusterConfig, createKubeCluster, type KubeCluster } from '#kube';
import { DefinitionRunners, errorLogger } from '#simulation';
import { createMetricRegistry } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import type { Random } from '#util/random.ts';

export interface ClusterOperatorsOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly random: Random;
  /** Resources of other namespaces are not touched. */
  readonly namespace: string;
  readonly definitions: readonly LocatedDefinition[];
  readonly onError: (line: string) => void;
  /** Called before each write; throws to prevent it. */
  readonly onWrite: (request: ApiRequest) => void;
}

/** The operators of a test, restricted to its namespace. */
export class ClusterOperators {
  readonly definitions: readonly LocatedDefinition[];
  readonly #cluster: KubeCluster;
  readonly #runners: DefinitionRunners;
  readonly #stopper = new AbortController();
  readonly #ended: Promise<void>;
  #isStopped = false;

  constructor(options: ClusterOperatorsOptions) {
    const { definitions, namespace, clock, random, onError, onWrite } = options;
    const logger = errorLogger(onError);
    const metrics = createMetricRegistry();
    this.definitions = definitions;
    this.#cluster = createKubeCluster({ ...options, logger, metrics, beforeWrite: onWrite });
    this.#runners = new DefinitionRunners({
      clock,
      random,
      logger,
      metrics,
      cluster: this.#cluster,
      definitions: definitions.map((located) => restricted(located, namespace)),
    });
    this.#ended = this.#runners.run(this.#stopper.signal);
  }

  get isRunning(): boolean {
    return this.#runners.views.every(({ state }) => state.kind === 'running');
  }

  get isRejected(): boolean {
    return this.#runners.views.some(({ state }) => state.kind === 'rejected');
  }

  /** Why one of them cannot run. */
  get problem(): string | undefined {
    for (const { state, name } of this.#runners.views) {
      if (state.kind === 'failing' || state.kind === 'rejected')
        return `Definition "${name}" does not run: ${state.message}`;
    }
    return undefined;
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#stopper.abort(new Error('The test has ended'));
    await this.#ended;
    await this.#cluster.close();
  }
}

function restricted(located: LocatedDefinition, namespace: string): LocatedDefinition {
  const { definition } = located;
  const namespaces = { include: [namespace], exclude: [] };
  const controller = { ...definition.controller, namespaces };
  return { ...located, definition: { ...definition, controller } };
}
