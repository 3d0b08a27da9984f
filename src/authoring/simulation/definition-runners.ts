import type { CoverageRecorder } from '#compile';
import type { LocatedDefinition } from '#definition';
import type { KubeCluster } from '#kube';
import { type DefinitionView, RecordGate, RunningDefinition, simulatedConversion } from '#runtime';
import type { Logger, MetricRegistry } from '#telemetry';
import type { Clock } from '#util/clock.ts';
import type { Random } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { whenAborted } from '#util/when-aborted.ts';

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

/** Lets a definition run whose state is recorded nowhere. */
function unrecorded(): RecordGate {
  const nothing = { revisions: [], kinds: { resources: [], children: [] }, rollout: undefined };
  const gate: RecordGate = new RecordGate(nothing, () => gate.recorded(gate.report()));
  return gate;
}

/** Runs definitions that do not change, without objects of kind `OperatorDefinition`: their revisions are not recorded. */
export class DefinitionRunners {
  readonly #definitions: readonly LocatedDefinition[];
  readonly #options: Omit<DefinitionRunnersOptions, 'definitions'>;
  #running: readonly RunningDefinition[] = [];

  constructor({ definitions, ...options }: DefinitionRunnersOptions) {
    this.#definitions = definitions;
    this.#options = options;
  }

  get views(): readonly DefinitionView[] {
    return this.#running.map(({ view }) => view);
  }

  /** Runs until the signal aborts and every reconcile has ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#running = this.#definitions.map((located) => this.#start(located, signal));
    await whenAborted(signal);
    await Promise.all(this.#running.map((running) => running.ended));
  }

  #start(located: LocatedDefinition, signal: AbortSignal): RunningDefinition {
    const running = new RunningDefinition(
      {
        ...this.#options,
        name: located.definition.name,
        listener: { awaited: () => {}, changed: () => {}, counted: () => {} },
        timeSlicer: unlimitedTimeSlicer,
        conversion: simulatedConversion,
        gate: unrecorded(),
      },
      signal,
    );
    running.want({ kind: 'run', desired: { located } });
    return running;
  }
}
