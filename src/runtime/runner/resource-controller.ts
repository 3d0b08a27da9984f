import { Controller } from '../../controller/index.ts';
import { definesCrd, type OperatorDefinition } from '../../definition/index.ts';
import {
  createOperator,
  type Operator,
  type OperatorOptions,
  type Readiness,
} from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { errorLogFields } from '../../util/homeostat-error.ts';
import { whenCrdLost } from '../crd/wait-for-crd.ts';
import type { DefinitionView, RolloutRecord, RolloutView } from '../definition-view.ts';
import type {
  PreparedRevision,
  RevisionOperator,
  RevisionOperatorHooks,
} from '../rollout/revision-operator.ts';
import { RevisionRouter } from '../rollout/revision-router.ts';
import { logRollout } from '../rollout/rollout.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { DefinitionRunnerOptions } from './definition-runner.ts';
import { whenKindLost } from './foreign-kind.ts';
import { previousKindsOf } from './prepare-definition.ts';
import { resync, whenNewKind } from './restart-conditions.ts';
import { dropPreviousKinds, migrateResources } from './rollout-cleanup.ts';

interface ResourceControllerOptions
  extends SharedOptions,
    Pick<DefinitionRunnerOptions, 'onKindsGone' | 'definitionMetrics'>,
    Pick<OperatorOptions, 'onGuarded'> {
  /** The definition's kind is deleted or has another owner. */
  readonly onLost: (reason: string) => void;
}

/** Older revisions and roll-out to start with. */
interface StartOptions {
  /** Older revisions that resources report, newest first. */
  readonly previous: readonly PreparedRevision[];
  /** A roll-out that was under way when the last process ended. @default undefined: none was */
  readonly rollout?: RolloutRecord | undefined;
}

/** Reconciles the resources of one definition: its queue, its workers, and the operators of its active revisions. */
export class ResourceController {
  readonly #options: ResourceControllerOptions;
  readonly #first: PreparedRevision;
  readonly #logger: Logger;
  readonly #controller: Controller;
  readonly #router: RevisionRouter;
  /** Stops everything. */
  readonly #aborter = new AbortController();
  /** Stops the watches for the newest revision. */
  #watches = new AbortController();
  #isRunning = false;

  /** `first`: the revision to start with. */
  constructor(options: ResourceControllerOptions, first: PreparedRevision) {
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
  get newest(): PreparedRevision {
    return this.all[0] ?? this.#first;
  }

  /** All active revisions, newest first. */
  get all(): readonly PreparedRevision[] {
    return this.#router.operators.map(({ prepared }) => prepared);
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
  async start({ previous, rollout }: StartOptions, signal: AbortSignal): Promise<void> {
    const newest = this.#createRevisionOperator(this.#first, previous);
    const older = previous.map((prepared) => this.#createRevisionOperator(prepared, []));
    await startAll([newest, ...older], signal);
    this.#router.start(newest, older, rollout);
  }

  /**
   * Switches to a newer revision: starts its watches, then rolls it out.
   * @throws KubeError; the active revision is unchanged then.
   */
  async switchTo(next: PreparedRevision, signal: AbortSignal): Promise<void> {
    const revisionOperator = this.#createRevisionOperator(next, this.all);
    await startAll([revisionOperator], signal);
    this.#controller.updateSettings(settingsOf(next.plan.definition));
    this.#router.switchTo(revisionOperator);
    this.#watchRevision(next);
  }

  approve(revision: string | undefined): void {
    this.#router.approve(revision);
  }

  /** Pauses or resumes all passes, deletions included. */
  pause(isPaused: boolean): void {
    if (isPaused === this.#controller.isPaused) return;
    if (isPaused) this.#controller.pause();
    else {
      this.#controller.resume();
      this.#router.startRollout();
    }
  }

  /** Runs until the signal aborts, its kind is lost or a missing kind is served, and all passes have ended. */
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

  /** `older`: other revisions of resources; children of their kinds are to be deleted. */
  #createRevisionOperator(
    prepared: PreparedRevision,
    older: readonly PreparedRevision[],
  ): RevisionOperator {
    const previousKinds = previousKindsOf(prepared, older);
    const trace = this.#options.observer?.traceOf(prepared.plan);
    const revision = { ...prepared, previousKinds, trace };
    return this.#router.createOperator(revision, (hooks) => this.#createOperator(revision, hooks));
  }

  #createOperator(
    { plan, previousKinds, trace }: PreparedRevision,
    hooks: RevisionOperatorHooks,
  ): Operator {
    const { definitionMetrics, notifier } = this.#options;
    return createOperator({
      // Passes add the definition's name to the logger.
      ...this.#options,
      // A member need not have the namespace of the runtime.
      ...(this.#options.hub && { keysNamespace: 'kube-system' }),
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
    for (const { prepared, operator } of this.#router.operators) {
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
    const { newest } = this.#router;
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
  const both = AbortSignal.any([signal, failure.signal]);
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

/** Combined state of operators. */
export interface OperatorSummary extends Readiness {
  readonly instances: number;
  readonly orphaned: number;
  readonly problems: readonly string[];
  readonly missingRights: NonNullable<DefinitionView['missingRights']>;
}

/** `operators`: newest first; the newest one counts the resources. */
function summarize(operators: readonly Operator[]): OperatorSummary {
  const [newest] = operators;
  const { instances = 0, unmatchedInstances: leftInPlace = 0 } = newest ?? {};
  const counts = { ready: 0, unready: 0 };
  for (const operator of operators) {
    const { ready, unready } = operator.readiness();
    counts.ready += ready;
    counts.unready += unready;
  }
  const problems = operators.flatMap((operator) => operator.problems());
  const messages = problems.map(({ what, message }) => `${what}: ${message}`);
  const rights = problems.filter(({ code }) => code === 'forbidden');
  return {
    instances,
    orphaned: leftInPlace,
    ...counts,
    unknown: Math.max(0, instances - counts.ready - counts.unready),
    problems: [...new Set(messages)],
    missingRights: [...new Set(rights.map(({ message }) => message))],
  };
}
