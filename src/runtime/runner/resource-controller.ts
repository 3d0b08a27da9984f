import { Controller } from '../../controller/index.ts';
import type { OperatorDefinition } from '../../definition/index.ts';
import { createOperator, type Operator, type ReconcileTrace } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { Gvk } from '../../util/gvk.ts';
import { errorLogFields } from '../../util/homeostat-error.ts';
import type { RolloutRecord, RolloutView } from '../definition-view.ts';
import type { RevisionOperator, RevisionOperatorHooks } from '../rollout/revision-operator.ts';
import { RevisionRouter } from '../rollout/revision-router.ts';
import { logRollout } from '../rollout/rollout.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { DefinitionRunnerOptions } from './definition-runner.ts';
import { type OperatorSummary, summarize } from './definition-state-tracker.ts';
import { type PreparedDefinition, previousKindsOf } from './prepare-definition.ts';
import { resync, whenRestartNeeded } from './restart-conditions.ts';
import { dropPreviousKinds, migrateResources } from './rollout-cleanup.ts';

interface ResourceControllerOptions
  extends SharedOptions,
    Pick<DefinitionRunnerOptions, 'onKindsGone' | 'definitionMetrics'> {
  /** The definition's kind is deleted or has another owner. */
  readonly onLost: (reason: string) => void;
}

/** Older revisions and roll-out to start with. */
interface StartOptions {
  /** Older revisions that resources report, newest first. */
  readonly previous: readonly PreparedDefinition[];
  /** A roll-out that was under way when the last process ended. @default undefined: none was */
  readonly rollout?: RolloutRecord | undefined;
}

/** An active revision, and kinds of children that only other revisions create. */
interface ActiveRevision {
  readonly prepared: PreparedDefinition;
  readonly previousKinds: readonly Gvk[];
  readonly trace?: ReconcileTrace;
}

/** Reconciles the resources of one definition: its queue, its workers, and the operators of its active revisions. */
export class ResourceController {
  readonly #options: ResourceControllerOptions;
  readonly #first: PreparedDefinition;
  readonly #logger: Logger;
  readonly #controller: Controller;
  readonly #router: RevisionRouter;
  readonly #active = new WeakMap<RevisionOperator, ActiveRevision>();
  /** Stops everything. */
  readonly #aborter = new AbortController();
  /** Stops the watches for the newest revision. */
  #watches = new AbortController();
  #isPaused = false;
  #isRunning = false;

  /** `first`: the revision to start with. */
  constructor(options: ResourceControllerOptions, first: PreparedDefinition) {
    this.#options = options;
    this.#first = first;
    const { clock, notifier } = options;
    const { name } = first.plan;
    this.#logger = options.logger.child({ definition: name });
    this.#router = new RevisionRouter({
      clock,
      enqueue: (key, priority) => this.#controller.enqueue(key, priority),
      passesEnded: () => this.#controller.passesEnded(),
      canReconcile: () => this.#isRunning && !this.#controller.isPaused,
      onEvent: (event, view) => {
        logRollout(this.#logger, event, view);
        notifier.notify();
      },
      onChange: () => notifier.notifyLater(),
      onPreviewError: (error) => this.#logger.error(errorLogFields(error), 'Preview failed'),
      onSettled: () => this.#cleanUp(),
    });
    this.#controller = new Controller({
      ...options,
      ...settingsOf(first.plan.definition),
      name,
      logger: this.#logger,
      reconciler: this.#router,
    });
  }

  /** The newest active revision. */
  get newest(): PreparedDefinition {
    return this.all[0] ?? this.#first;
  }

  /** All active revisions, newest first. */
  get all(): readonly PreparedDefinition[] {
    return this.#router.operators.map(
      (revisionOperator) => this.#activeOf(revisionOperator).prepared,
    );
  }

  get rollout(): RolloutView | undefined {
    return this.#router.view;
  }

  get depth(): number {
    return this.#controller.depth;
  }

  /** Summary of its operators. */
  get summary(): OperatorSummary {
    return summarize(this.#router.operators.map(({ operator }) => operator));
  }

  observe(): void {
    this.#controller.observe();
  }

  /**
   * Starts the watches.
   * @throws KubeError
   */
  async start(
    { previous: previousRevisions, rollout }: StartOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const newest = this.#createRevisionOperator(this.#first, previousRevisions);
    const older = previousRevisions.map((prepared) => this.#createRevisionOperator(prepared, []));
    const revisionOperators = [newest, ...older];
    try {
      await Promise.all(revisionOperators.map(({ operator }) => operator.start(signal)));
      signal.throwIfAborted();
    } catch (error) {
      for (const { operator } of revisionOperators) operator.stop();
      throw error;
    }
    this.#router.start(newest, older, rollout);
  }

  /**
   * Switches to a newer revision: starts its watches, then rolls it out.
   * @throws KubeError; the active revision is unchanged then.
   */
  async switchTo(next: PreparedDefinition, signal: AbortSignal): Promise<void> {
    const revisionOperator = this.#createRevisionOperator(next, this.all);
    try {
      await revisionOperator.operator.start(signal);
      signal.throwIfAborted();
    } catch (error) {
      revisionOperator.operator.stop();
      throw error;
    }
    this.#controller.updateSettings(settingsOf(next.plan.definition));
    this.#router.switchTo(revisionOperator);
    this.#watchRevision(next);
  }

  approve(revision: string | undefined): void {
    this.#router.approve(revision);
  }

  /** Pauses or resumes all passes, deletions included. */
  pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#controller.pause();
    else {
      this.#controller.resume();
      this.#router.startRollout();
    }
  }

  /** Runs until the signal aborts or its kind is lost, and all passes have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster } = this.#options;
    const all = AbortSignal.any([signal, this.#aborter.signal]);
    // Without valid credentials the retry delays have grown.
    const unsubscribe = cluster.onAuthenticated(() => this.#controller.retryNow());
    this.#watchRevision(this.newest);
    try {
      this.#isRunning = !all.aborted;
      this.#router.startRollout();
      await this.#controller.run(all);
    } finally {
      unsubscribe();
      this.#abort('The controller has stopped');
    }
  }

  /** Releases all watches. No pass may be running. */
  stop(): void {
    this.#abort('The controller has stopped');
    this.#router.stop();
  }

  #abort(reason: string): void {
    this.#aborter.abort(new Error(reason));
    this.#watches.abort(new Error(reason));
  }

  #activeOf(revisionOperator: RevisionOperator): ActiveRevision {
    const found = this.#active.get(revisionOperator);
    if (found === undefined) throw new Error('Expected an active revision');
    return found;
  }

  /** `older`: other revisions of resources; children of their kinds are to be deleted. */
  #createRevisionOperator(
    prepared: PreparedDefinition,
    older: readonly PreparedDefinition[],
  ): RevisionOperator {
    const previousKinds = previousKindsOf(prepared, older);
    const trace = this.#options.observer?.traceOf(prepared.plan);
    const active = { prepared, previousKinds, ...(trace && { trace }) };
    const revisionOperator = this.#router.createOperator(prepared.located, (hooks) =>
      this.#createOperator(active, hooks),
    );
    this.#active.set(revisionOperator, active);
    return revisionOperator;
  }

  #createOperator(
    { prepared: { plan }, previousKinds, trace }: ActiveRevision,
    hooks: RevisionOperatorHooks,
  ): Operator {
    const { definitionMetrics, notifier } = this.#options;
    return createOperator({
      // Passes add the definition's name to the logger.
      ...this.#options,
      plan,
      previousKinds,
      ...hooks,
      onDecisions: (key, record) => {
        hooks.onDecisions(key, record);
        definitionMetrics.recordPass(record);
        notifier.notifyLater();
      },
      ...(trace && { trace }),
    });
  }

  /** Enqueues every resource, for example because a value that all of them may use has changed. */
  runAll(): void {
    for (const revisionOperator of this.#router.operators) {
      const { trace } = this.#activeOf(revisionOperator);
      for (const key of revisionOperator.operator.keys()) {
        trace?.onEnqueue(key, 'resync');
        this.#controller.enqueue(key, 'low');
      }
    }
  }

  /** Resyncs periodically, and stops the controller when the kind is lost or a missing kind is served. */
  #watchRevision(prepared: PreparedDefinition): void {
    this.#watches.abort(new Error('A newer revision is active'));
    this.#watches = new AbortController();
    const { cluster, clock, random, onLost, runtime, hub } = this.#options;
    const { signal } = this.#watches;
    const everyMs = prepared.plan.definition.controller.resyncMs;
    void resync({ clock, random, everyMs, runAll: () => this.runAll() }, signal);
    void whenRestartNeeded(
      prepared,
      { cluster, clock, runtime, hub, logger: this.#logger },
      signal,
    ).then((end) => {
      if (end === undefined || signal.aborted) return;
      if (end.kind === 'lost') onLost(end.reason);
      this.#abort(end.reason);
    });
  }

  /** Called when all resources have the newest revision. */
  #cleanUp(): void {
    const { newest } = this.#router;
    const { definition } = newest.located;
    const options = { ...this.#options, definition, logger: this.#logger };
    const { previousKinds } = this.#activeOf(newest);
    const { signal } = this.#watches;
    void dropPreviousKinds(
      options,
      { operator: newest.operator, formerKinds: previousKinds },
      signal,
    );
    void migrateResources(options, signal);
  }
}

function settingsOf({ controller: { concurrency, retry } }: OperatorDefinition) {
  return { concurrency, baseDelayMs: retry.initialMs, maxDelayMs: retry.maxMs };
}
