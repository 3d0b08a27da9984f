import type { OperatorPlan } from '../../compile/index.ts';
import { Controller } from '../../controller/index.ts';
import type { OperatorDefinition } from '../../definition/index.ts';
import { createOperator, type Operator } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { failureFields } from '../../util/failure-fields.ts';
import type { Gvk } from '../../util/gvk.ts';
import type { RolloutView } from '../definition-view.ts';
import { type Edition, type EditionHooks, logRollout, Switchboard } from '../rollout/index.ts';
import { forController, forOperator, type SharedOptions } from '../runner-options.ts';
import { whenLifeEnds } from './definition-life.ts';
import type { DefinitionMetrics } from './definition-metrics.ts';
import { formerKindsOf } from './former-kinds-of.ts';
import { factsOf, type OperatorFacts } from './operator-facts.ts';
import type { Prepared } from './prepare-definition.ts';
import { Resync } from './resync.ts';
import { dropFormerKinds, storeAnew } from './tidy-up.ts';

export interface DefinitionWorkOptions extends SharedOptions {
  readonly definitionMetrics: DefinitionMetrics;
  /** What the definition works on is gone, or somebody else's. */
  readonly onLost: (reason: string) => void;
}

/** A revision, and the kinds that others have made and it does not. */
interface AtWork {
  readonly prepared: Prepared;
  readonly formerKinds: readonly Gvk[];
}

/** A definition at work: its queue and workers, and behind them the operators of the revisions that its resources have. */
export class DefinitionWork {
  readonly #options: DefinitionWorkOptions;
  readonly #first: Prepared;
  readonly #logger: Logger;
  readonly #controller: Controller;
  readonly #board: Switchboard;
  readonly #resync: Resync;
  readonly #atWork = new WeakMap<Edition, AtWork>();
  /** Ends all that goes on. */
  readonly #ending = new AbortController();
  /** Ends what watches over the newest revision. */
  #watching = new AbortController();
  #isPaused = false;
  #isWorking = false;

  /** `first`: the revision to begin with. */
  constructor(options: DefinitionWorkOptions, first: Prepared) {
    this.#options = options;
    this.#first = first;
    const { clock, random, bell } = options;
    const forOurs = forController(options, first.plan.name);
    this.#logger = forOurs.logger;
    this.#board = new Switchboard({
      clock,
      enqueue: (key, priority) => this.#controller.enqueue(key, priority),
      passesEnded: () => this.#controller.passesEnded(),
      mayWork: () => this.#isWorking && !this.#controller.isHeld,
      onNews: (news, view) => {
        logRollout(this.#logger, news, view);
        bell.ring();
      },
      onChange: () => bell.ringLater(),
      onBug: (error) => this.#logger.error(failureFields(error), 'Preview failed'),
      onSettled: () => this.#tidyUp(),
    });
    this.#controller = new Controller({
      ...forOurs,
      ...settingsOf(first.plan.definition),
      reconciler: this.#board,
    });
    this.#resync = new Resync({
      clock,
      random,
      everyMs: () => this.newest.plan.definition.controller.resyncMs,
      runAll: () => this.#runAll(),
    });
  }

  /** The newest revision at work. */
  get newest(): Prepared {
    return this.all[0] ?? this.#first;
  }

  /** All revisions at work, the newest first. */
  get all(): readonly Prepared[] {
    return this.#board.editions.map((edition) => this.#of(edition).prepared);
  }

  get rollout(): RolloutView | undefined {
    return this.#board.view;
  }

  get depth(): number {
    return this.#controller.depth;
  }

  /** What its operators say, together. */
  get facts(): OperatorFacts {
    return factsOf(this.#board.editions.map(({ operator }) => operator));
  }

  observe(): void {
    this.#controller.observe();
  }

  /**
   * Begins to watch. `formers`: older revisions, newest first, that resources may still have by what they report.
   * @throws KubeError
   */
  async start(formers: readonly Prepared[], signal: AbortSignal): Promise<void> {
    const newest = this.#createEdition(this.#first, formers);
    const older = formers.map((prepared) => this.#createEdition(prepared, []));
    const editions = [newest, ...older];
    try {
      await Promise.all(editions.map(({ operator }) => operator.start(signal)));
      signal.throwIfAborted();
    } catch (error) {
      for (const { operator } of editions) operator.stop();
      throw error;
    }
    this.#board.begin(newest, older);
  }

  /**
   * Goes over to a newer revision: watches what it needs, and then rolls it out.
   * @throws KubeError; nothing has changed then.
   */
  async switchTo(next: Prepared, signal: AbortSignal): Promise<void> {
    const edition = this.#createEdition(next, this.all);
    try {
      await edition.operator.start(signal);
      signal.throwIfAborted();
    } catch (error) {
      edition.operator.stop();
      throw error;
    }
    this.#controller.adjust(settingsOf(next.plan.definition));
    this.#board.switchTo(edition);
    this.#resync.restart();
    this.#watchOver(next);
  }

  approve(revision: string | undefined): void {
    this.#board.approve(revision);
  }

  /** Works on nothing, deletions neither, until it is told to go on. */
  pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#controller.hold();
    else {
      this.#controller.release();
      this.#board.proceed();
    }
  }

  /** Works until the signal aborts or its kind is lost, and all passes have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster } = this.#options;
    const all = AbortSignal.any([signal, this.#ending.signal]);
    // Without credentials every resource waits for a delay that has grown with time.
    const unsubscribe = cluster.onAdmitted(() => this.#controller.retryNow());
    this.#watchOver(this.newest);
    try {
      this.#isWorking = !all.aborted;
      this.#board.proceed();
      await Promise.all([this.#controller.run(all), this.#resync.run(all)]);
    } finally {
      unsubscribe();
      this.#end('The work has ended');
    }
  }

  /** Releases all that is watched. No pass may be running. */
  stop(): void {
    this.#end('The work has ended');
    this.#board.stop();
  }

  #end(reason: string): void {
    this.#ending.abort(new Error(reason));
    this.#watching.abort(new Error(reason));
  }

  #of(edition: Edition): AtWork {
    const found = this.#atWork.get(edition);
    if (found === undefined) throw new Error('Expected a revision that is at work');
    return found;
  }

  /** `older`: what else resources may have; of its kinds objects are to go. */
  #createEdition(prepared: Prepared, older: readonly Prepared[]): Edition {
    const formerKinds = formerKindsOf(prepared, older);
    const edition = this.#board.createEdition(prepared.located, (hooks) =>
      this.#createOperator(prepared.plan, formerKinds, hooks),
    );
    this.#atWork.set(edition, { prepared, formerKinds });
    return edition;
  }

  #createOperator(plan: OperatorPlan, formerKinds: readonly Gvk[], hooks: EditionHooks): Operator {
    const { definitionMetrics, bell } = this.#options;
    return createOperator({
      ...forOperator(this.#options),
      plan,
      formerKinds,
      ...hooks,
      onDecisions: (key, record) => {
        hooks.onDecisions(key, record);
        definitionMetrics.passed(record);
        bell.ringLater();
      },
    });
  }

  #runAll(): void {
    for (const { operator } of this.#board.editions)
      for (const key of operator.keys()) this.#controller.enqueue(key, 'low');
  }

  /** Ends the work when what the newest revision works on goes, or a kind comes that it did not know. */
  #watchOver(prepared: Prepared): void {
    this.#watching.abort(new Error('A newer revision is at work'));
    this.#watching = new AbortController();
    const { cluster, clock, onLost } = this.#options;
    const { signal } = this.#watching;
    void whenLifeEnds(prepared, { cluster, clock, logger: this.#logger }, signal).then((end) => {
      if (end === undefined || signal.aborted) return;
      if (end.kind === 'lost') onLost(end.reason);
      this.#end(end.reason);
    });
  }

  /** All resources have the newest revision. */
  #tidyUp(): void {
    const { newest } = this.#board;
    const { definition } = newest.located;
    const options = { ...this.#options, definition, logger: this.#logger };
    const { formerKinds } = this.#of(newest);
    const { signal } = this.#watching;
    void dropFormerKinds(options, { operator: newest.operator, formerKinds }, signal);
    void storeAnew(options, signal);
  }
}

function settingsOf({ controller: { concurrency, retry } }: OperatorDefinition) {
  return { concurrency, baseDelayMs: retry.initialMs, maxDelayMs: retry.maxMs };
}
