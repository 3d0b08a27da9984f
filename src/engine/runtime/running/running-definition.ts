import type { LocatedDefinition } from '#definition';
import type { KubeError } from '#kube/roles.ts';
import type { Readiness } from '#reconcile';
import { anySignal } from '#util/any-signal.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { invariant } from '#util/homeostat-error.ts';
import { DefinitionMetrics } from '../definition-metrics.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import { Finalization } from '../finalize/finalization.ts';
import { FinalizeBeside } from '../finalize/finalize-beside.ts';
import type { RecordedKinds, RecordedState } from '../recorded-state.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { ViewListener } from '../view-change-notifier.ts';
import { DefinitionLog } from './definition-log.ts';
import { DefinitionRun, notBegun } from './definition-run.ts';
import type { RecordGate, StateToRecord } from './record-gate.ts';
import { idleView } from './running-view.ts';
import { isPausedTask, isSameRun, isSameTask, type RunTask } from './same-task.ts';

export interface RunningDefinitionOptions extends SharedOptions {
  readonly name: string;
  /** No resource takes a revision before it is open. */
  readonly gate: RecordGate;
  readonly listener: ViewListener;
}

/** The work on a task. */
interface Work {
  /** Kinds when it started. */
  readonly kinds: RecordedKinds;
  readonly stopper: AbortController;
  readonly ended: Promise<void>;
}

/**
 * One definition in one cluster. It brings about what is wanted, one task at a time: runs ({@link DefinitionRun}), stops, finalizes,
 * uninstalls. No resource takes a revision before it is {@link recorded}. Errors affect only this definition: they
 * are shown in {@link view} and retried.
 */
export class RunningDefinition {
  readonly name: string;
  readonly metrics: DefinitionMetrics;
  readonly #options: RunningDefinitionOptions;
  readonly #log: DefinitionLog;
  readonly #signal: AbortSignal;
  readonly #gate: RecordGate;
  readonly #beside: FinalizeBeside;
  #task: DefinitionTask = { kind: 'wait', message: notBegun };
  #work: Work | undefined;
  readonly #createdMs: number;
  #recordError: KubeError | undefined;
  #hasRun = false;
  /** Of the task, if that is to run. */
  #run: DefinitionRun | undefined;
  /** Of the task, if that is to finalize. */
  #finalization: Finalization | undefined;
  /** Aborts when the running definition is paused or resumed. */
  #pauseChange = new AbortController();

  /** `signal`: stops all work. */
  constructor(options: RunningDefinitionOptions, signal: AbortSignal) {
    const { name, gate, metrics, clock, logger } = options;
    this.name = name;
    this.metrics = new DefinitionMetrics(metrics, clock, name);
    this.#options = options;
    this.#createdMs = clock.monotonicMs();
    this.#log = new DefinitionLog(logger.child({ definition: name }));
    this.#signal = signal;
    this.#gate = gate;
    this.#beside = new FinalizeBeside({
      ...options,
      kinds: () => gate.state.kinds,
      isPaused: () => isPausedTask(this.#task),
      pauseChange: () => this.#pauseChange.signal,
    });
  }

  get task(): DefinitionTask {
    return this.#task;
  }

  /** Monotonic. */
  get createdMs(): number {
    return this.#createdMs;
  }

  /** Why the status cannot be written. Undefined: it can. */
  get recordError(): KubeError | undefined {
    return this.#recordError;
  }

  /** Whether this process has run the definition. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** Whether finalizing or uninstalling is complete. */
  get isDone(): boolean {
    return this.#finalization?.isDone === true;
  }

  /** What the status must contain. */
  get state(): StateToRecord {
    return this.#gate.state;
  }

  /** Whether the status contains the accepted revision. */
  get isRecorded(): boolean {
    return this.#gate.isOpen;
  }

  get view(): DefinitionView {
    const task = this.#task;
    if (task.kind !== 'run') return idleView(this.name, task, this.#finalization);
    invariant(this.#run !== undefined, `The definition "${this.name}" has no run`);
    return this.#run.view;
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    const active = this.#run?.active;
    active?.observe();
    const readiness: Readiness | undefined = active?.summary;
    this.metrics.observe(this.view, readiness);
  }

  /** Changes the task. Stops the running one first, unless it is the same or runs the same kind. Returns at once. */
  want(task: DefinitionTask): void {
    const before = this.#task;
    this.#task = task;
    if (task.kind === 'run') this.#gate.keepPlaces(task.desired.located);
    if (before.kind === 'run' && task.kind === 'run' && isSameRun(before, task)) {
      if (isPausedTask(before) !== isPausedTask(task)) {
        this.#pauseChange.abort(new Error('The definition was paused or resumed'));
        this.#pauseChange = new AbortController();
      }
      this.#run?.update(task);
      return;
    }
    const { kinds } = this.#gate.state;
    if (isSameTask(before, task) && deepEqual(this.#work?.kinds, kinds)) return;
    this.#log.taskChanged(before, task);
    this.#begin(task, kinds);
    this.#options.listener.changed();
  }

  /** A revision runs in members: it is recorded here, and nothing here takes it. */
  acceptElsewhere(located: LocatedDefinition): void {
    this.#hasRun = true;
    this.#gate.accept(located, { resources: [], children: [] });
  }

  /** Call with what the status contains. A revision that it contains is taken. */
  recorded(state: StateToRecord & Partial<RecordedState>): void {
    this.#gate.recorded(state);
  }

  /** Call when the status could not be written, and with undefined when it was. */
  recordFailed(error: KubeError | undefined): void {
    this.#recordError = error;
  }

  /** What to record now, and the roll-out to show. `view`: what is shown, if it runs elsewhere, too. */
  report(view: DefinitionView = this.view): ReturnType<RecordGate['report']> {
    return this.#gate.report(view);
  }

  /** Enqueues every resource. */
  runAll(): void {
    this.#run?.active?.runAll();
  }

  /** Resolves when all work has ended. */
  get ended(): Promise<void> {
    return this.#work?.ended ?? Promise.resolve();
  }

  /** Stops for good, and removes the metrics; resolves when all work has ended. */
  async stop(): Promise<void> {
    this.#work?.stopper.abort(new Error('The definition was removed'));
    await this.ended;
    await this.metrics.forget();
  }

  #begin(task: DefinitionTask, kinds: RecordedKinds): void {
    const before = this.#work;
    before?.stopper.abort(new Error('The task has changed'));
    if (task.kind === 'run') this.#hasRun = true;
    const run = task.kind === 'run' ? this.#createRun(task) : undefined;
    const finalization = task.kind === 'finalize' ? this.#createFinalization() : undefined;
    this.#run = run;
    this.#finalization = finalization;
    const stopper = new AbortController();
    const signal = anySignal([this.#signal, stopper.signal]);
    const ended = (before?.ended ?? Promise.resolve()).then(async () => {
      if (signal.aborted || task.kind === 'wait') return;
      if (task.kind === 'finalize') return finalization?.run(task, signal);
      const { definition } = task.desired.located;
      const onGone = (gone: Partial<RecordedKinds>) => this.#gate.dropKinds(gone);
      await Promise.all([
        run?.run(signal),
        this.#beside.finalizePrevious(definition, onGone, signal),
      ]);
    });
    this.#work = { kinds, stopper, ended };
  }

  #createRun(task: RunTask): DefinitionRun {
    const parts = { definitionMetrics: this.metrics, log: this.#log, beside: this.#beside };
    return new DefinitionRun({ ...this.#options, ...parts }, task);
  }

  #createFinalization(): Finalization {
    return new Finalization({ ...this.#options, kinds: () => this.#gate.state.kinds });
  }
}
