import { hubKindsOf, type OperatorDefinition } from '#definition';
import { groupKindKey } from '#util/gvk.ts';
import { whenAborted } from '#util/when-aborted.ts';
import type { RuntimeCluster, SharedOptions } from '../runner-options.ts';
import { retryUntilDone } from '../waits.ts';
import type { OwnKind } from './own-kind.ts';
import { OwnObjectInformer } from './own-object-informer.ts';

/** Kinds of Homeostat with a controller of their own, which reconciles their objects. */
export interface OwnController {
  readonly kinds: readonly OwnKind[];
  /** Whether they are served without a definition that uses them. */
  readonly isAlwaysServed: boolean;
  /** Runs it until the signal aborts and all of its work has ended. Called when the kinds are served. */
  run(signal: AbortSignal): Promise<void>;
  /** Updates the gauges before a scrape. */
  observe(): void;
}

type OwnControllerRunnerOptions = Pick<SharedOptions, 'clock' | 'logger'> & {
  readonly cluster: RuntimeCluster;
};

/**
 * Runs a controller of own kinds when it is needed: a definition uses one of its kinds, or they are installed, so that there may be objects
 * with finalizers. Before that, nothing of it is requested or loaded.
 */
export class OwnControllerRunner {
  readonly #controller: OwnController;
  readonly #options: OwnControllerRunnerOptions;
  readonly #activated = Promise.withResolvers<void>();

  constructor(controller: OwnController, options: OwnControllerRunnerOptions) {
    this.#controller = controller;
    this.#options = options;
    if (controller.isAlwaysServed) this.#activated.resolve();
  }

  /** Call when the discovery of the group is known. */
  noteServed(): void {
    const { cluster } = this.#options;
    const isServed = this.#controller.kinds.some(({ gvk }) => cluster.resourceFor(gvk));
    if (isServed) this.#activated.resolve();
  }

  /** Call when a definition is to run. */
  noteDefinition(definition: OperatorDefinition): void {
    if (usesKinds(definition, this.#controller.kinds)) this.#activated.resolve();
  }

  /** Runs until the signal aborts and all work has ended. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#activated.promise, whenAborted(signal)]);
    if (signal.aborted) return;
    const { kinds } = this.#controller;
    const waiting = new Set(kinds);
    const served = Promise.withResolvers<void>();
    const informers = kinds.map(
      (kind) =>
        new OwnObjectInformer({
          ...this.#options,
          kind,
          onEvent: () => {},
          onSynced: () => {
            waiting.delete(kind);
            if (waiting.size === 0) served.resolve();
          },
        }),
    );
    const running = informers.map((informer) => informer.run(signal));
    await Promise.race([served.promise, whenAborted(signal)]);
    await retryUntilDone(() => this.#controller.run(signal), {
      ...this.#options,
      signal,
      message: 'A controller of Homeostat cannot start, will retry',
    });
    await Promise.all(running);
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    this.#controller.observe();
  }
}

/** Whether a definition uses objects of these kinds in the cluster of the runtime. Pure. */
function usesKinds(definition: OperatorDefinition, kinds: readonly OwnKind[]): boolean {
  const own = new Set(kinds.map(({ gvk }) => groupKindKey(gvk)));
  return hubKindsOf(definition).some((gvk) => own.has(groupKindKey(gvk)));
}
