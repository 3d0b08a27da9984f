import type { OperatorDefinition } from '#definition';
import { anySignal } from '#util/any-signal.ts';
import type { FinalizationOptions } from './finalization.ts';
import { splitKinds } from './finalization.ts';
import { type FinalizeKindsOptions, finalizeKinds } from './finalize-kinds.ts';

export interface FinalizeBesideOptions extends Omit<FinalizationOptions, 'listener'> {
  readonly isPaused: () => boolean;
  /** Aborts when {@link isPaused} changes. */
  readonly pauseChange: () => AbortSignal;
}

interface Running {
  readonly revision: string;
  readonly stopper: AbortController;
  readonly ended: Promise<void>;
}

/** Finalizes resources of a definition that should run: while it cannot start, and those of its previous kinds. */
export class FinalizeBeside {
  readonly #options: FinalizeBesideOptions;
  #running: Running | undefined;

  constructor(options: FinalizeBesideOptions) {
    this.#options = options;
  }

  /** Finalizes resources while the definition has no plan, until {@link stop} or nothing remains. */
  async start(definition: OperatorDefinition, signal: AbortSignal): Promise<void> {
    const { revision, controller } = definition;
    if (signal.aborted || this.#running?.revision === revision) return;
    await this.stop();
    const stopper = new AbortController();
    const ending = anySignal([signal, stopper.signal]);
    const { namespaces } = controller;
    const { own: kinds } = splitKinds(this.#options.kinds(), definition);
    const ended = this.#finalize({ kinds, ...(namespaces && { namespaces }) }, ending);
    this.#running = { revision, stopper, ended };
  }

  /** It must not run at the same time as operators of the kind. */
  async stop(): Promise<void> {
    this.#running?.stopper.abort(new Error('The definition can be run, or has changed'));
    await this.#running?.ended;
    this.#running = undefined;
  }

  /**
   * Finalizes resources of previous kinds, after the definition's kind changed. `onGone`: called with them when nothing is left. Never
   * rejects.
   */
  async finalizePrevious(
    definition: OperatorDefinition,
    onGone: (kinds: Pick<FinalizeKindsOptions['kinds'], 'resources'>) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { others: kinds } = splitKinds(this.#options.kinds(), definition);
    if (kinds.resources.length === 0) return;
    await this.#finalize({ kinds }, signal);
    if (!signal.aborted) onGone({ resources: kinds.resources });
  }

  /** Until nothing remains or the signal aborts. Never rejects. */
  async #finalize(
    kinds: Pick<FinalizeKindsOptions, 'kinds' | 'namespaces'>,
    signal: AbortSignal,
  ): Promise<void> {
    let ending: AbortSignal;
    do {
      ending = anySignal([signal, this.#options.pauseChange()]);
      const isPaused = this.#options.isPaused();
      const options = { ...this.#options, ...kinds, isPaused, onRemaining: () => {} };
      await finalizeKinds(options, ending).catch(() => {});
    } while (ending.aborted && !signal.aborted);
  }
}
