import { Controller, type ReconcileContext, type ReconcileResult } from '#controller';
import { definesCrd, type OperatorDefinition } from '#definition';
import { createOperator, type Operator, type OperatorOptions, SharedHistory } from '#reconcile';
import type { Logger } from '#telemetry/roles.ts';
import { anySignal } from '#util/any-signal.ts';
import type { CrdListener } from '../crd/crd-definition.ts';
import { whenCrdLost } from '../crd/wait-for-crd.ts';
import type { DefinitionMetrics } from '../definition-metrics.ts';
import { previousKindsOf } from '../prepare/prepare-definition.ts';
import type { PreparedRevision } from '../prepare/prepared-revision.ts';
import type { RevisionOperator, RevisionOperatorHooks } from '../revision-operator.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { ViewListener } from '../view-change-notifier.ts';
import { type CleanupOptions, dropPreviousKinds, migrateResources } from './cleanup.ts';
import { whenKindLost } from './foreign-kind.ts';
import { type OperatorSummary, summarize } from './operator-summary.ts';
import type { RecordGate } from './record-gate.ts';
import { resync, whenNewKind } from './restart-conditions.ts';
import { RevisionOperators } from './revision-operators.ts';

interface ActiveRevisionsOptions
  extends SharedOptions,
    CrdListener,
    Pick<CleanupOptions, 'onKindsGone' | 'onMigration'>,
    Pick<OperatorOptions, 'onGuarded'> {
  readonly listener: ViewListener;
  readonly definitionMetrics: DefinitionMetrics;
  /** The definition's kind is deleted or has another owner. */
  readonly onLost: (reason: string) => void;
}

/** Reconciles the resources of a {@link RunningDefinition}: its queue, its workers, and the operators of its active revisions. */
export class ActiveRevisions {
  readonly #options: ActiveRevisionsOptions;
  readonly #first: PreparedRevision;
  readonly #logger: Logger;
  readonly #controller: Controller;
  readonly #operators: RevisionOperators;
  readonly #history = new SharedHistory();
  /** Stops everything. */
  readonly #aborter = new AbortController();
  /** Stops the watches for the newest revision. */
  #watches = new AbortController();
  #isRunning = false;
  #ended: Promise<void> = Promise.resolve();

  /** `first`: the revision to start with. */
  constructor(options: ActiveRevisionsOptions, first: PreparedRevision) {
    this.#options = options;
    this.#first = first;
    const { clock, listener } = options;
    const { name } = first.plan;
    this.#logger = options.logger.child({ definition: name });
    this.#operators = new RevisionOperators({
      clock,
      logger: this.#logger,
      enqueue: (key, priority) => this.#controller.enqueue(key, priority),
      passesEnded: () => this.#controller.passesEnded(),
      canReconcile: () => this.#isRunning && !this.#controller.isPaused,
      onEvent: () => listener.changed(),
      onChange: () => listener.counted(),
      onSettled: () => this.#cleanUp(),
    });
    this.#controller = new Controller({
      ...options,
      ...settingsOf(first.plan.definition),
      name,
      logger: this.#logger,
      reconciler: { reconcile: (key, turn) => this.#reconcile(key, turn) },
    });
  }

  /** Aborts when it stops by itself: its kind is lost, or a missing kind is served. */
  get ending(): AbortSignal {
    return this.#aborter.signal;
  }

  /** Resolves when all passes have ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** The newest active revision. */
  get newest(): PreparedRevision {
    return this.all[0] ?? this.#first;
  }

  /** All active revisions, newest first. */
  get all(): readonly PreparedRevision[] {
    return this.#operators.all.map(({ prepared }) => prepared);
  }

  /** Its part of the view of the definition. */
  get shown() {
    const { instances, orphaned, problems, missingRights, ready, unknown } = this.summary;
    return {
      instances,
      readyInstances: ready,
      orphaned,
      queued: this.#controller.depth,
      problems,
      missingRights,
      activeRevisions: this.all.map(({ plan }) => plan.revision),
      ...this.#operators.shown,
      ...(unknown > 0 && { isCounting: true as const }),
    };
  }

  /** Summary of its operators. */
  get summary(): OperatorSummary {
    return summarize(this.#operators.all.map(({ operator }) => operator));
  }

  observe(): void {
    this.#controller.observe();
  }

  /**
   * Starts the watches. `previous`: older revisions that resources report, newest first. `unfinished`: what the last process recorded and
   * did not finish.
   * @throws KubeError
   */
  async start(
    previous: readonly PreparedRevision[],
    unfinished: RecordGate['unfinished'],
    signal: AbortSignal,
  ): Promise<void> {
    const newest = this.#createRevisionOperator(this.#first, previous);
    const older = previous.map((prepared) => this.#createRevisionOperator(prepared, []));
    await startAll([newest, ...older], signal);
    this.#operators.start(newest, older, unfinished);
  }

  /**
   * Switches to a newer revision: starts its watches, then rolls it out.
   * @throws KubeError; the active revision is unchanged then.
   */
  async switchTo(next: PreparedRevision, signal: AbortSignal): Promise<void> {
    const revisionOperator = this.#createRevisionOperator(next, this.all);
    await startAll([revisionOperator], signal);
    this.#controller.updateSettings(settingsOf(next.plan.definition));
    this.#operators.switchTo(revisionOperator);
    this.#watchRevision(next);
  }

  approve(revision: string | undefined): void {
    this.#operators.approve(revision);
  }

  /** Pauses or resumes all passes, deletions included. */
  pause(isPaused: boolean): void {
    if (isPaused === this.#controller.isPaused) return;
    if (isPaused) this.#controller.pause();
    else {
      this.#controller.resume();
      this.#operators.resume();
    }
  }

  /** Runs until the signal aborts or it stops by itself. */
  run(signal: AbortSignal): void {
    this.#ended = this.#run(signal);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { cluster } = this.#options;
    const all = anySignal([signal, this.#aborter.signal]);
    // Without valid credentials the retry delays have grown.
    const unsubscribe = cluster.onAuthenticated(() => this.#controller.retryNow());
    this.#watchRevision(this.newest);
    try {
      this.#isRunning = !all.aborted;
      this.#operators.resume();
      await this.#controller.run(all);
    } finally {
      unsubscribe();
      this.#abort('The controller has stopped');
    }
  }

  /** Releases all watches. No pass may be running. */
  stop(): void {
    this.#abort('The controller has stopped');
    this.#operators.stop();
  }

  async #reconcile(key: string, turn: ReconcileContext): Promise<ReconcileResult> {
    try {
      return await this.#operators.reconcile(key, turn);
    } finally {
      this.#options.listener.counted();
    }
  }

  #abort(reason: string): void {
    this.#aborter.abort(new Error(reason));
    this.#watches.abort(new Error(reason));
  }

  /** `older`: other revisions of resources; children of their kinds are to be deleted. */
  #createRevisionOperator(
    prepared: PreparedRevision,
    older: readonly PreparedRevision[],
  ): RevisionOperator {
    const previousKinds = previousKindsOf(prepared, older);
    const trace = this.#options.observer?.traceOf(prepared.plan);
    const revision = { ...prepared, previousKinds, trace };
    return this.#operators.create(revision, (hooks) => this.#createOperator(revision, hooks));
  }

  #createOperator(
    { plan, previousKinds, trace }: PreparedRevision,
    hooks: RevisionOperatorHooks,
  ): Operator {
    const { definitionMetrics, listener } = this.#options;
    return createOperator({
      // Passes add the definition's name to the logger.
      ...this.#options,
      // A member need not have the namespace of the runtime.
      ...(this.#options.hub && { keysNamespace: 'kube-system' }),
      plan,
      previousKinds,
      history: this.#history,
      ...hooks,
      onDecisions: (key, record) => {
        hooks.onDecisions(key, record);
        definitionMetrics.recordPass(record);
      },
      onWatchState: () => listener.counted(),
      ...(trace && { trace }),
    });
  }

  /** Enqueues every resource, for example because a value that all of them may use has changed. */
  runAll(): void {
    for (const { prepared, operator } of this.#operators.all) {
      for (const key of operator.keys()) {
        prepared.trace?.onEnqueue(key, 'resync');
        this.#controller.enqueue(key, 'low');
      }
    }
  }

  /** Resyncs periodically, and stops the controller when the kind is lost or a missing kind is served. */
  #watchRevision({ plan, unknownKinds }: PreparedRevision): void {
    this.#watches.abort(new Error('A newer revision is active'));
    this.#watches = new AbortController();
    const { clock, random, onLost } = this.#options;
    const { signal } = this.#watches;
    const everyMs = plan.definition.controller.resyncMs;
    void resync({ clock, random, everyMs, runAll: () => this.runAll() }, signal);
    const context = { ...this.#options, logger: this.#logger };
    const onKindLost = (reason: string) => {
      if (signal.aborted) return;
      onLost(reason);
      this.#abort(reason);
    };
    const onNewKind = (reason: string | undefined) => {
      if (reason !== undefined && !signal.aborted) this.#abort(reason);
    };
    const { definition } = plan;
    const lost = definesCrd(definition)
      ? whenCrdLost({ ...context, definition }, signal)
      : whenKindLost(plan, context.cluster, signal);
    lost.then(onKindLost, () => {});
    whenNewKind(unknownKinds, context, signal).then(onNewKind, () => {});
  }

  /** Called when all resources have the newest revision. */
  #cleanUp(): void {
    const { newest } = this.#operators;
    const { located, previousKinds } = newest.prepared;
    const options = {
      ...this.#options,
      definition: located.definition,
      logger: this.#logger,
    };
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

/**
 * Starts the operators; stops all of them if one cannot start.
 * @throws KubeError
 */
async function startAll(
  revisionOperators: readonly RevisionOperator[],
  signal: AbortSignal,
): Promise<void> {
  const failure = new AbortController();
  const both = anySignal([signal, failure.signal]);
  const starts = revisionOperators.map(({ operator }) => operator.start(both));
  try {
    await Promise.all(starts);
    signal.throwIfAborted();
  } catch (error) {
    failure.abort(error);
    // An operator that is still starting would acquire watches after its stop.
    await Promise.allSettled(starts);
    for (const { operator } of revisionOperators) operator.stop();
    throw error;
  }
}
