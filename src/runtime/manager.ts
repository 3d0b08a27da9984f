import type { LocatedDefinition } from '../definition/index.ts';
import type { Logger, MetricRegistry } from '../telemetry/roles.ts';
import type { Clock } from '../util/clock.ts';
import type { Random } from '../util/random.ts';
import { DefinitionRunner } from './definition-runner.ts';
import type { DefinitionView, RuntimeView } from './definition-view.ts';
import type { RuntimeCluster } from './runtime-cluster.ts';

export interface ManagerOptions {
  readonly definitions: readonly LocatedDefinition[];
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** How long running passes may go on after the signal, in ms. @default 20_000 */
  readonly graceMs?: number;
}

/** Runs a set of definitions in one cluster. */
export interface Manager {
  /** Resolves when the signal has aborted and every pass has ended; nothing is written after that. */
  run(signal: AbortSignal): Promise<void>;
  view(): RuntimeView;
  /** Brings gauges up to date, for a scrape. */
  observe(): void;
}

/** Makes a manager; nothing happens before {@link Manager.run}. */
export function createManager({ definitions, metrics, ...shared }: ManagerOptions): Manager {
  const runners = definitions.map(
    (located) => new DefinitionRunner({ located, metrics, ...shared }),
  );
  const states = metrics.gauge({
    name: 'homeostat_definitions',
    help: 'Definitions by state',
    labels: ['state'],
  });

  function view(): RuntimeView {
    const views = runners.map((runner) => runner.view);
    const { isReachable } = shared.cluster;
    const isSettled = ({ state }: DefinitionView) =>
      state.kind === 'running' || state.kind === 'refused';
    return { isReachable, isReady: isReachable && views.every(isSettled), definitions: views };
  }

  return {
    view,
    async run(signal) {
      await Promise.all(runners.map((runner) => runner.run(signal)));
    },
    observe() {
      for (const runner of runners) runner.observe();
      const views = runners.map((runner) => runner.view);
      for (const kind of ['starting', 'running', 'refused', 'failing'] as const) {
        states.set(views.filter(({ state }) => state.kind === kind).length, [kind]);
      }
    },
  };
}
