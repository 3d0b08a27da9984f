import type { LocatedDefinition } from '../definition/index.ts';
import { type Logger, type MetricRegistry, metricCatalogue } from '../telemetry/roles.ts';
import type { Clock } from '../util/clock.ts';
import type { Random } from '../util/random.ts';
import { DefinitionRunner } from './definition-runner.ts';
import type { RuntimeView } from './definition-view.ts';
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
  const states = metrics.gauge(metricCatalogue.definitions);
  let isStopping = false;

  function view(): RuntimeView {
    const { unreachableForMs } = shared.cluster;
    return { unreachableForMs, isStopping, definitions: runners.map((runner) => runner.view) };
  }

  return {
    view,
    async run(signal) {
      const stop = () => {
        isStopping = true;
      };
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      await Promise.all(runners.map((runner) => runner.run(signal)));
      signal.removeEventListener('abort', stop);
    },
    observe() {
      for (const runner of runners) runner.observe();
      const views = runners.map((runner) => runner.view);
      for (const kind of metricCatalogue.definitions.values.state) {
        states.set(views.filter(({ state }) => state.kind === kind).length, [kind]);
      }
    },
  };
}
