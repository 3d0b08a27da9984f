import type { LocatedDefinition } from '../../definition/index.ts';
import type { Readiness } from '../../reconcile/index.ts';
import { apiVersionOf, type GroupKind } from '../../util/gvk.ts';
import type { DefinitionMetrics } from '../definition-metrics.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DesiredDefinition } from '../desired-definition.ts';
import type { SharedOptions } from '../runner-options.ts';
import { waitToRetry } from '../waits.ts';
import { DefinitionRevisions, isUnreachable } from './definition-revisions.ts';
import { DefinitionStateTracker } from './definition-state-tracker.ts';
import { whenServed } from './foreign-kind.ts';
import type { PreparedDefinition } from './prepare-definition.ts';
import { ResourceController } from './resource-controller.ts';

export interface DefinitionRunnerOptions extends SharedOptions {
  readonly desired: DesiredDefinition;
  readonly definitionMetrics: DefinitionMetrics;
  /** Kinds of its recorded children. */
  readonly childKinds: () => readonly GroupKind[];
  /**
   * Persists the accepted revision. No resource takes it before this resolves.
   * @throws the signal's reason
   */
  readonly record: (located: LocatedDefinition, signal: AbortSignal) => Promise<void>;
  /** Finalizes resources while the definition cannot run. Ends when the signal aborts or nothing remains. Never rejects. */
  readonly finalizeMeanwhile: (signal: AbortSignal) => Promise<void>;
  /** No children of these previous kinds are left. */
  readonly onKindsGone: (kinds: { readonly children: readonly GroupKind[] }) => void;
}

/**
 * Runs one definition: waits for its kind, installs its CRD, compiles its plan, reconciles its resources. Errors affect only this
 * definition: they are shown in {@link view} and retried.
 */
export class DefinitionRunner {
  readonly #options: DefinitionRunnerOptions;
  readonly #state: DefinitionStateTracker;
  readonly #revisions: DefinitionRevisions;
  /** Finalizing while there is no plan. */
  #finalizing: { readonly stopper: AbortController; readonly ended: Promise<void> } | undefined;
  #controller: ResourceController | undefined;

  constructor(options: DefinitionRunnerOptions) {
    const { desired, clock, notifier } = options;
    const { name } = desired.located.definition;
    this.#options = options;
    const logger = options.logger.child({ definition: name });
    this.#state = new DefinitionStateTracker({ clock, notifier, logger });
    this.#revisions = new DefinitionRevisions({ ...options, state: this.#state });
  }

  get view(): DefinitionView {
    const { desired } = this.#revisions;
    const running = this.#controller?.newest.located ?? desired.located;
    const { name, revision, kind } = running.definition;
    const facts = this.#controller?.summary;
    const rollout = this.#controller?.rollout;
    return {
      name,
      revision,
      apiVersion: apiVersionOf(kind.gvk),
      kind: kind.gvk.kind,
      state: this.#state.state,
      instances: facts?.instances ?? 0,
      orphaned: facts?.orphaned ?? 0,
      queued: this.#controller?.depth ?? 0,
      problems: facts?.problems ?? [],
      ...(facts && { missingRights: facts.missingRights, readyInstances: facts.ready }),
      ...this.#revisions.viewBeside(running),
      ...(desired.isPaused && { isPaused: true }),
      ...(rollout && { rollout }),
      ...(this.#controller && {
        activeRevisions: this.#controller.all.map(({ plan }) => plan.revision),
      }),
    };
  }

  /** Undefined while nothing runs. */
  get readiness(): Readiness | undefined {
    return this.#controller?.summary;
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    this.#controller?.observe();
  }

  /** Enqueues every resource. */
  runAll(): void {
    this.#controller?.runAll();
  }

  /** Changes the desired definition. */
  update(desired: DesiredDefinition): void {
    this.#revisions.update(desired);
    this.#controller?.approve(desired.approvedDeletions);
    this.#controller?.pause(desired.isPaused === true);
    this.#options.notifier.notify();
  }

  /** Runs until the signal aborts and all passes have ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const attempt = this.#revisions.attempt(signal);
      let error: unknown;
      try {
        if (await this.#runOnce({ attempt, signal })) failures = 0;
      } catch (caught) {
        if (signal.aborted) break;
        error = caught;
        if (!attempt.aborted) this.#state.failed(error, failures);
      }
      await waitToRetry(failures++, error, { ...this.#options, signal: attempt });
      if (attempt.aborted) failures = 0;
    }
    await this.#stopFinalizing();
  }

  /** Runs once, until the last pass has ended. False: the definition was rejected. */
  async #runOnce(context: RunContext): Promise<boolean> {
    const { attempt, signal } = context;
    const { cluster } = this.#options;
    const { located } = this.#revisions.desired;
    const { definition } = located;
    const onMissing = () => this.#state.waiting(definition.kind);
    const informer =
      definition.kind.source === 'for'
        ? await whenServed(definition, { cluster, onMissing }, attempt)
        : undefined;
    try {
      const found = await this.#revisions.prepareFirst(attempt).catch((error: unknown) => {
        // Finalize resources although the definition cannot start.
        if (!attempt.aborted && !isUnreachable(error)) this.#startFinalizing(signal);
        throw error;
      });
      if (found.kind === 'rejected') {
        this.#state.rejected(found.rejection);
        this.#startFinalizing(signal);
        return false;
      }
      await this.#stopFinalizing();
      await this.#runController(found.prepared, {
        ...context,
        onStarted: () => informer?.release(),
      });
      return true;
    } finally {
      informer?.release();
    }
  }

  #startFinalizing(signal: AbortSignal): void {
    if (signal.aborted || this.#finalizing !== undefined) return;
    const stopper = new AbortController();
    const { finalizeMeanwhile } = this.#options;
    const ended = finalizeMeanwhile(AbortSignal.any([signal, stopper.signal]));
    this.#finalizing = { stopper, ended };
  }

  /** Finalizing must not run at the same time as the controller. */
  async #stopFinalizing(): Promise<void> {
    this.#finalizing?.stopper.abort(new Error('The definition can be run'));
    await this.#finalizing?.ended;
    this.#finalizing = undefined;
  }

  async #runController(first: PreparedDefinition, context: ControllerContext): Promise<void> {
    const { attempt, signal, onStarted } = context;
    const onLost = (reason: string) => this.#state.lost(reason);
    const { onKindsGone } = this.#options;
    const work = new ResourceController({ ...this.#options, onLost, onKindsGone }, first);
    this.#controller = work;
    this.#state.syncing();
    const ending = new AbortController();
    try {
      const previous = await this.#revisions.prepareOlder(first, attempt);
      const { rollout } = this.#revisions.desired;
      await work.start({ previous, rollout }, attempt);
      onStarted();
      this.#state.running(work.summary);
      const { approvedDeletions, isPaused = false } = this.#revisions.desired;
      work.approve(approvedDeletions);
      work.pause(isPaused);
      const following = this.#revisions.follow(work, AbortSignal.any([signal, ending.signal]));
      await work.run(signal);
      ending.abort(new Error('The controller has stopped'));
      await following;
    } finally {
      work.stop();
      this.#controller = undefined;
    }
  }
}

interface RunContext {
  /** Also aborts when another revision is desired. */
  readonly attempt: AbortSignal;
  readonly signal: AbortSignal;
}

interface ControllerContext extends RunContext {
  /** All watches have started. */
  readonly onStarted: () => void;
}
