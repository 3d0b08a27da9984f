import type { CoverageRecorder } from '../compile/index.ts';
import type { LocatedDefinition } from '../definition/index.ts';
import type { KubeCluster } from '../kube/index.ts';
import {
  DefinitionMetrics,
  DefinitionRunner,
  type DefinitionView,
  ViewChangeNotifier,
} from '../runtime/index.ts';
import type { Logger, MetricRegistry } from '../telemetry/index.ts';
import type { Clock } from '../util/clock.ts';
import type { Random } from '../util/random.ts';
import { unlimitedTimeSlicer } from '../util/time-slicer.ts';
import { whenAborted } from '../util/when-aborted.ts';

export interface DefinitionRunnersOptions {
  readonly definitions: readonly LocatedDefinition[];
  readonly cluster: KubeCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Records what the definitions evaluate. @default undefined: nothing is recorded */
  readonly coverage?: CoverageRecorder;
}

/** Runs definitions that do not change, without objects of kind `OperatorDefinition`: their revisions are not recorded. */
export class DefinitionRunners {
  readonly #runners: readonly DefinitionRunner[];

  constructor({ definitions, ...options }: DefinitionRunnersOptions) {
    const { metrics, clock } = options;
    this.#runners = definitions.map(
      (located) =>
        new DefinitionRunner({
          ...options,
          definitionMetrics: new DefinitionMetrics(metrics, clock, located.definition.name),
          notifier: new ViewChangeNotifier(clock),
          timeSlicer: unlimitedTimeSlicer,
          desired: { located },
          childKinds: () => [],
          record: () => Promise.resolve(),
          finalizeMeanwhile: (_definition, signal) => whenAborted(signal),
          onKindsGone: () => undefined,
        }),
    );
  }

  get views(): readonly DefinitionView[] {
    return this.#runners.map(({ view }) => view);
  }

  /** Runs until the signal aborts and every reconcile has ended. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.run(signal)));
  }
}
