import {
  isSameKind,
  type LocatedDefinition,
  type OperatorDefinition,
} from '../../definition/index.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { apiVersionOf, type GroupKind, groupKindKey } from '../../util/gvk.ts';
import { messageOf } from '../../util/homeostat-error.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import { DefinitionMetrics } from '../definition-metrics.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DesiredDefinition, UninstallRequest } from '../desired-definition.ts';
import {
  abandonResources,
  type FinalizeKindsOptions,
  finalizeKinds,
} from '../finalize/finalize-kinds.ts';
import { uninstall } from '../finalize/uninstall.ts';
import { DefinitionRunner } from '../runner/definition-runner.ts';
import type { SharedOptions } from '../runner-options.ts';
import { retryUntilDone } from '../waits.ts';
import type { DefinitionTask, FinalizeTask } from './decide.ts';
import type { RecordedKinds } from './record.ts';

interface DefinitionTaskRunnerOptions extends SharedOptions {
  readonly name: string;
  /**
   * Persists the accepted revision; resolves when the status contains it. Called before any resource takes the revision.
   * @throws the signal's reason
   */
  readonly record: (located: LocatedDefinition, signal: AbortSignal) => Promise<void>;
  /** Kinds of all resources and children, current and previous. */
  readonly kinds: () => RecordedKinds;
  /** Finalizing or uninstalling is complete. */
  readonly onDone: () => void;
  /** No resources or children of these kinds are left. */
  readonly onKindsGone: (kinds: Partial<RecordedKinds>) => void;
}

/** The running task. */
interface RunningTask {
  /** Kinds when the task started. */
  readonly kinds: RecordedKinds;
  readonly stopper: AbortController;
  readonly runner?: DefinitionRunner;
  readonly ended: Promise<void>;
}

const pausedMessage = 'Paused by annotation homeostat.dev/paused';

/** Runs the tasks of one definition, one at a time. */
export class DefinitionTaskRunner {
  readonly #options: DefinitionTaskRunnerOptions;
  #task: DefinitionTask = { kind: 'wait', message: 'Waiting to be reconciled' };
  #work: RunningTask | undefined;
  #signal: AbortSignal;
  #progress = '';
  /** Number of resources with the definition's finalizer. */
  #remaining = 0;
  #isDone = false;
  /** Uninstalling has ended; resources that are left are finalized. */
  #isUninstalled = false;
  #hasRun = false;
  /** Aborts when the running definition is paused or resumed. */
  #pauseChange = new AbortController();
  readonly metrics: DefinitionMetrics;

  /** `signal`: stops all work. */
  constructor(options: DefinitionTaskRunnerOptions, signal: AbortSignal) {
    const { metrics, clock, name } = options;
    this.#options = options;
    this.#signal = signal;
    this.metrics = new DefinitionMetrics(metrics, clock, name);
  }

  /** Whether this process has run the definition. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** Whether finalizing or uninstalling is complete. */
  get isDone(): boolean {
    return this.#isDone;
  }

  get task(): DefinitionTask {
    return this.#task;
  }

  get view(): DefinitionView {
    const runner = this.#work?.runner;
    if (this.#task.kind === 'run' && runner !== undefined) return runner.view;
    return {
      name: this.#options.name,
      revision: '',
      ...kindOf(this.#task),
      state: this.#state,
      instances: this.#remaining,
      orphaned: 0,
      queued: 0,
      problems: [],
    };
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    const { runner } = this.#work ?? {};
    runner?.observe();
    this.metrics.observe(this.view, runner?.readiness);
  }

  /** Changes the task. Stops the running one first, unless it is the same. Returns at once. */
  setTask(task: DefinitionTask): void {
    const before = this.#task;
    this.#task = task;
    const { runner } = this.#work ?? {};
    if (task.kind === 'run' && runner !== undefined && canUpdate(before, task)) {
      if (isPausedTask(before) !== isPausedTask(task)) {
        this.#pauseChange.abort(new Error('The definition was paused or resumed'));
        this.#pauseChange = new AbortController();
      }
      runner.update(task.desired);
      return;
    }
    const kinds = this.#options.kinds();
    if (isSameTask(before, task) && deepEqual(this.#work?.kinds, kinds)) return;
    this.#isDone = false;
    this.#isUninstalled = false;
    this.#progress = '';
    this.#log(before, task);
    this.#start(task, kinds);
    this.#options.notifier.notify();
  }

  /** Enqueues every resource of the running definition. */
  runAll(): void {
    this.#work?.runner?.runAll();
  }

  /** Stops for good, and removes the metrics; resolves when the task has ended. */
  async stop(): Promise<void> {
    this.#work?.stopper.abort(new Error('The definition was removed'));
    await this.#work?.ended;
    await this.metrics.forget();
  }

  get #state(): DefinitionView['state'] {
    const task = this.#task;
    if (task.kind === 'wait') return { kind: 'starting', message: task.message };
    if (task.kind === 'run')
      return { kind: 'starting', message: 'Waiting for the previous task to end' };
    return task.uninstall === undefined || this.#isUninstalled
      ? finalizingState(task, this.#progress)
      : { kind: 'uninstalling', message: this.#progress };
  }

  #start(task: DefinitionTask, kinds: RecordedKinds): void {
    const before = this.#work;
    before?.stopper.abort(new Error('The task has changed'));
    const stopper = new AbortController();
    const signal = AbortSignal.any([this.#signal, stopper.signal]);
    const runner = task.kind === 'run' ? this.#createRunner(task.desired) : undefined;
    if (runner !== undefined) this.#hasRun = true;
    const ended = (before?.ended ?? Promise.resolve()).then(() =>
      this.#perform(task, runner, signal),
    );
    this.#work = { kinds, stopper, ended, ...(runner && { runner }) };
  }

  #log(before: DefinitionTask, task: DefinitionTask): void {
    const { name, logger } = this.#options;
    if (before.kind !== 'run' || task.kind !== 'finalize' || task.uninstall !== undefined) return;
    logger.info(
      { definition: name, reason: task.message },
      'Definition stopped, its resources and their children are orphaned',
    );
  }

  #createRunner(desired: DesiredDefinition): DefinitionRunner {
    return new DefinitionRunner({
      ...this.#options,
      desired,
      definitionMetrics: this.metrics,
      childKinds: () => this.#options.kinds().children,
      finalizeMeanwhile: (definition, signal) => this.#finalizeMeanwhile(definition, signal),
    });
  }

  /** Never rejects. */
  async #perform(
    task: DefinitionTask,
    runner: DefinitionRunner | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    this.#remaining = 0;
    if (signal.aborted) return;
    if (task.kind === 'run') {
      const { definition } = task.desired.located;
      await Promise.all([runner?.run(signal), this.#finalizePreviousKinds(definition, signal)]);
      return;
    }
    if (task.kind === 'wait') return;
    if (isPausedTask(task)) this.#progress = pausedMessage;
    const { name, onDone, notifier } = this.#options;
    await retryUntilDone(
      async () => {
        await this.#finalize(task, signal);
        this.#isDone = true;
        onDone();
      },
      {
        ...this.#options,
        signal,
        message: 'Definition cannot be finalized, will retry',
        fields: { definition: name },
        onFailure: (error) => {
          this.#progress = messageOf(error);
          notifier.notify();
        },
      },
    );
  }

  async #finalize(task: FinalizeTask, signal: AbortSignal): Promise<void> {
    const { isAbandoned = false, isPaused = false } = task;
    let kinds = this.#options.kinds();
    if (isAbandoned) await abandonResources({ ...this.#options, kinds }, signal);
    if (task.uninstall !== undefined) {
      if (isPaused) await whenAborted(signal);
      kinds = await this.#uninstall(task.uninstall, signal);
    }
    await finalizeKinds(
      {
        ...this.#options,
        kinds,
        isPaused,
        onRemaining: (remaining) => this.#setRemaining(remaining),
      },
      signal,
    );
  }

  /** Never rejects. */
  async #finalizeMeanwhile(definition: OperatorDefinition, signal: AbortSignal): Promise<void> {
    const { namespaces } = definition.controller;
    const kinds = this.#kindsOf(definition).own;
    await this.#finalizeBeside({ kinds, ...(namespaces && { namespaces }) }, signal);
  }

  /** Finalizes resources of previous kinds, after the definition's kind changed. */
  async #finalizePreviousKinds(definition: OperatorDefinition, signal: AbortSignal): Promise<void> {
    const kinds = this.#kindsOf(definition).others;
    if (kinds.resources.length === 0) return;
    await this.#finalizeBeside({ kinds }, signal);
    if (!signal.aborted) this.#options.onKindsGone({ resources: kinds.resources });
  }

  /** Finalizes kinds of the running definition until nothing remains or the signal aborts. Never rejects. */
  async #finalizeBeside(
    kinds: Pick<FinalizeKindsOptions, 'kinds' | 'namespaces'>,
    signal: AbortSignal,
  ): Promise<void> {
    let ending: AbortSignal;
    do {
      ending = AbortSignal.any([signal, this.#pauseChange.signal]);
      const isPaused = isPausedTask(this.#task);
      const options = { ...this.#options, ...kinds, isPaused, onRemaining: () => {} };
      await finalizeKinds(options, ending).catch(() => {});
    } while (ending.aborted && !signal.aborted);
  }

  /** Splits the recorded kinds into the current kind and previous ones. */
  #kindsOf(definition: OperatorDefinition) {
    const { resources, children } = this.#options.kinds();
    const own = groupKindKey(definition.kind.gvk);
    const isOwn = (kind: GroupKind) => groupKindKey(kind) === own;
    return {
      own: { resources: resources.filter(isOwn), children },
      others: { resources: resources.filter((each) => !isOwn(each)), children },
    };
  }

  /** @returns the kinds of resources that are left: they have our finalizer until they are deleted */
  async #uninstall(request: UninstallRequest, signal: AbortSignal): Promise<RecordedKinds> {
    signal.throwIfAborted();
    const onProgress = (message: string, remaining: number) => {
      this.#progress = message;
      this.#setRemaining(remaining);
    };
    const kinds = this.#options.kinds();
    const options = { ...this.#options, ...request, childKinds: kinds.children, onProgress };
    const isKindDeleted = await uninstall(options, signal);
    this.#isUninstalled = true;
    this.#progress = '';
    this.#options.notifier.notify();
    return isKindDeleted ? this.#kindsOf(request.located.definition).others : kinds;
  }

  #setRemaining(remaining: number): void {
    if (remaining === this.#remaining) return;
    this.#remaining = remaining;
    this.#options.notifier.notify();
  }
}

/** Whether the runner can switch to the new revision. A definition of another kind counts as another definition. */
function canUpdate(
  before: DefinitionTask,
  next: Extract<DefinitionTask, { kind: 'run' }>,
): boolean {
  return before.kind === 'run' && isSameKind(before.desired.located, next.desired.located);
}

function isPausedTask(task: DefinitionTask): boolean {
  if (task.kind === 'run') return task.desired.isPaused === true;
  return task.kind !== 'wait' && task.isPaused === true;
}

/** The reason for finalizing, and the last error. */
function finalizingState(
  { message, rejection }: FinalizeTask,
  trouble: string,
): DefinitionView['state'] {
  if (rejection !== undefined) return { kind: 'rejected', ...rejection };
  return { kind: 'finalizing', message: trouble === '' ? message : `${message}: ${trouble}` };
}

function isSameTask(before: DefinitionTask, next: DefinitionTask): boolean {
  if (before.kind === 'wait' && next.kind === 'wait') return before.message === next.message;
  if (before.kind !== 'finalize' || next.kind !== 'finalize') return false;
  const about = ({ isAbandoned = false, isPaused = false, uninstall: request }: FinalizeTask) => ({
    isAbandoned,
    isPaused,
    policy: request?.policy,
    sinceMs: request?.sinceMs,
    revision: request?.located.definition.revision,
  });
  return deepEqual(about(before), about(next));
}

function kindOf(task: DefinitionTask): Pick<DefinitionView, 'apiVersion' | 'kind'> {
  const { located } =
    (task.kind === 'run' ? task.desired : task.kind === 'finalize' ? task.uninstall : undefined) ??
    {};
  if (located === undefined) return { apiVersion: '', kind: '' };
  const { gvk } = located.definition.kind;
  return { apiVersion: apiVersionOf(gvk), kind: gvk.kind };
}
