import { diagnosticText } from '#check';
import type { OperatorPlan } from '#compile';
import { Controller } from '#controller';
import { type LocatedDefinition, usedKindsOf } from '#definition';
import { createOperator, holdChange } from '#reconcile';
import { anySignal } from '#util/any-signal.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { type GroupKind, type Gvk, isSameKind } from '#util/gvk.ts';
import { conditionsOf, type KubeObject, keyOf } from '#util/kube-object.ts';
import { installNameOf, statusManagerOf } from '#util/stored-names.ts';
import { whenAborted } from '#util/when-aborted.ts';
import { DefinitionMetrics } from '../definition-metrics.ts';
import {
  type InstallProblem,
  type InstallTask,
  statusOfOwn,
} from '../definitions/install-tasks.ts';
import { errorMessage } from '../error-message.ts';
import { whenNewKind } from '../running/restart-conditions.ts';
import { servedKinds } from '../served-kinds.ts';
import { retryUntilDone } from '../waits.ts';
import { compileOwn } from './compile-own.ts';
import { type InstallationOptions, operatorOptions } from './installation-options.ts';
import { distinctKinds, recordedInstallKinds } from './recorded-kinds.ts';
import { removeObjects } from './remove-objects.ts';
import { SchemaReading, schemaWait } from './schema-reading.ts';

/** Keeps objects whose deletion needs an approval. */
type Hold = ReturnType<typeof holdChange>;
type ApplyTask = Extract<InstallTask, { kind: 'apply' }>;
type RemoveTask = Extract<InstallTask, { kind: 'remove' }>;

/** The objects that are kept as desired. */
interface Operated {
  readonly plan: OperatorPlan;
  readonly previousKinds: readonly Gvk[];
  /** The status has their state. */
  readonly onReported: () => void;
}

interface Work {
  readonly stopper: AbortController;
  readonly ended: Promise<void>;
}

/** Manages the objects of one part of a definition, one task at a time. */
export class Installation {
  readonly #options: InstallationOptions;
  /** In labels, field managers and metrics. */
  readonly #ownName: string;
  readonly #signal: AbortSignal;
  readonly #metrics: DefinitionMetrics;
  readonly #schema: SchemaReading;
  #task: InstallTask = { kind: 'keep' };
  #work: Work | undefined;
  #hold: Hold | undefined;
  /** Kinds of objects that this process may have created and that are not on record yet. */
  #unrecorded: readonly GroupKind[] = [];
  /** The revision of the running plan, once its objects have been reported. */
  #reported: string | undefined;
  #problem: InstallProblem | undefined;
  #isDone = false;

  /** `signal`: stops all work. */
  constructor(options: InstallationOptions, signal: AbortSignal) {
    const { name, part, metrics, clock } = options;
    this.#options = options;
    this.#ownName = installNameOf(name, part);
    this.#signal = signal;
    this.#metrics = new DefinitionMetrics(metrics, clock, this.#ownName);
    this.#schema = new SchemaReading(options);
  }

  /** Why the objects are not managed, or not all of them yet. Undefined: they are. */
  get problem(): InstallProblem | undefined {
    return this.#problem;
  }

  /** Whether the task is to remove the objects, and none is left. */
  get isDone(): boolean {
    return this.#task.kind !== 'remove' || this.#isDone;
  }

  /** Changes the task. Stops the running one first, unless it is the same. Returns at once. */
  want(task: InstallTask): void {
    const before = this.#task;
    this.#task = task;
    if (task.kind === 'apply') this.#hold?.approve(task.approvedDeletions);
    if (isSameTask(before, task)) return;
    const last = this.#work;
    last?.stopper.abort(new Error('The task has changed'));
    this.#isDone = false;
    this.#problem = undefined;
    const stopper = new AbortController();
    const signal = anySignal([this.#signal, stopper.signal]);
    const ended = (last?.ended ?? Promise.resolve()).then(() => this.#run(task, signal));
    this.#work = { stopper, ended };
  }

  /** Stops for good; resolves when all work has ended. */
  async stop(): Promise<void> {
    this.#work?.stopper.abort(new Error('The definition was removed'));
    await this.#work?.ended;
    await this.#metrics.forget();
  }

  /** Never rejects. */
  async #run(task: InstallTask, signal: AbortSignal): Promise<void> {
    if (task.kind === 'keep') return;
    await retryUntilDone(
      () => (task.kind === 'apply' ? this.#apply(task, signal) : this.#remove(task, signal)),
      {
        ...this.#options,
        signal,
        message: 'The objects of a definition cannot be managed, will retry',
        fields: { definition: this.#options.name },
        onFailure: (error) => this.#setProblem({ message: errorMessage(error) }),
      },
    );
  }

  /** Until the signal aborts, or the definition has no objects of its own any more. */
  async #apply({ located }: ApplyTask, signal: AbortSignal): Promise<void> {
    for (let isOver = false; !isOver && !signal.aborted; )
      isOver = await this.#reconcile(located, signal);
  }

  /** @returns whether nothing is left to do; false: a kind is served now, and its objects are compared by its schema */
  async #reconcile(located: LocatedDefinition, signal: AbortSignal): Promise<boolean> {
    const { cluster, part } = this.#options;
    await this.#schema.ofVersion(located, () => this.#setProblem(schemaWait(located)), signal);
    const known = this.#knownKinds();
    const omitsDefaults = this.#schema.isAwaited(located, known);
    const options = { ...this.#options, omitsDefaults };
    const { plan, diagnostics } = await compileOwn[part](located, options, signal);
    if (plan === undefined) {
      this.#setProblem({ message: diagnostics.map(diagnosticText).join('\n') });
      await whenAborted(signal);
      return true;
    }
    const isDesired = (kind: GroupKind) => plan.children.some(({ gvk }) => isSameKind(gvk, kind));
    const previous = known.filter((kind) => !isDesired(kind));
    const previousKinds = await servedKinds(previous, cluster, signal);
    this.#unrecorded = distinctKinds([...this.#unrecorded, ...plan.children.map(({ gvk }) => gvk)]);
    this.#reported = undefined;
    // What waited is applied before it is reported: the status is still that of the objects without it.
    if (omitsDefaults) this.#setProblem(schemaWait(located));
    else if (this.#problem?.isWaiting !== true) this.#setProblem(undefined);
    if (omitsDefaults && plan.children.length === 0) {
      await this.#schema.untilRead(located, signal);
      return false;
    }
    const unknown = usedKindsOf(plan.definition).filter(
      (gvk) => cluster.resourceFor(gvk) === undefined,
    );
    const ending = new AbortController();
    const attempt = anySignal([signal, ending.signal]);
    let isReleased = false;
    whenNewKind(unknown, this.#options, attempt).then(
      (reason) => reason !== undefined && ending.abort(new Error(reason)),
      () => {},
    );
    if (omitsDefaults)
      this.#schema.untilRead(located, attempt).then(
        () => ending.abort(new Error('The schema of the kind is read')),
        () => {},
      );
    const onReported = () => {
      this.#reported = plan.revision;
      if (!omitsDefaults) this.#setProblem(undefined);
    };
    await this.#operate({ plan, previousKinds, onReported }, attempt, () => {
      isReleased = true;
      ending.abort(new Error('No object is left'));
    }).catch((error: unknown) => {
      // It may end while it is starting.
      if (!ending.signal.aborted || signal.aborted) throw error;
    });
    if (!isReleased || signal.aborted) return false;
    await this.#clearStatus(signal);
    return true;
  }

  async #operate(
    { plan, previousKinds, onReported }: Operated,
    signal: AbortSignal,
    onReleased: () => void,
  ): Promise<void> {
    const { name, logger } = this.#options;
    const { retry } = plan.definition.controller;
    const operator = createOperator({
      ...operatorOptions(this.#options, { isRemoved: false, onReleased }),
      plan,
      previousKinds,
      enqueue: (key, priority) => controller.enqueue(key, priority),
      onDecisions: (_key, record) => {
        this.#metrics.recordPass(record);
        const isReported = record.status === 'written' || record.status === 'unchanged';
        if (isReported) onReported();
      },
    });
    const controller = new Controller({
      ...this.#options,
      name: plan.name,
      logger: logger.child({ definition: name }),
      reconciler: operator,
      concurrency: 1,
      baseDelayMs: retry.initialMs,
      maxDelayMs: retry.maxMs,
    });
    operator.guardDeletions(this.#createHold(plan, (key) => controller.enqueue(key)));
    try {
      await operator.start(signal);
      await controller.run(signal);
    } finally {
      operator.stop();
      this.#hold = undefined;
    }
  }

  /** Undefined: the definition has not changed since its objects were as it desires. */
  #createHold(plan: OperatorPlan, onAllowed: (key: string) => void): Hold | undefined {
    const { name, part, objects } = this.#options;
    // A policy holds nothing that is lost with it.
    if (part === 'admission') return undefined;
    const object = objects.get(name);
    if (object !== undefined && isSettled(object, plan.revision)) return undefined;
    const hold = holdChange({ plan, key: keyOf(undefined, name), onAllowed });
    hold.approve(this.#task.kind === 'apply' ? this.#task.approvedDeletions : undefined);
    this.#hold = hold;
    return hold;
  }

  async #remove({ located }: RemoveTask, signal: AbortSignal): Promise<void> {
    this.#isDone = await removeObjects(
      this.#options,
      { located, known: this.#knownKinds() },
      signal,
    );
    if (this.#isDone) this.#options.listener.awaited();
  }

  /** The kinds of the objects that exist or may exist. */
  #knownKinds(): readonly GroupKind[] {
    const { name, part, objects } = this.#options;
    const object = objects.get(name);
    const revision = object && statusOfOwn(object, part)?.definitionRevision;
    if (this.#reported !== undefined && this.#reported === revision) this.#unrecorded = [];
    return distinctKinds([...recordedInstallKinds(object, part), ...this.#unrecorded]);
  }

  /** The definition has no objects of its own any more. */
  async #clearStatus(signal: AbortSignal): Promise<void> {
    const { name, part, cluster, objects } = this.#options;
    const object = objects.get(name);
    if (object === undefined || statusOfOwn(object, part) === undefined) return;
    const { apiVersion, kind, metadata } = object;
    await cluster.apply(
      { apiVersion, kind, metadata: { name, uid: metadata.uid ?? '' }, status: {} },
      {
        flow: { name: this.#ownName, priority: 'status' },
        fieldManager: statusManagerOf(this.#ownName),
        force: true,
        subresource: 'status',
      },
      signal,
    );
  }

  #setProblem(problem: InstallProblem | undefined): void {
    if (deepEqual(this.#problem, problem)) return;
    this.#problem = problem;
    this.#options.listener.changed();
  }
}

function isSameTask(before: InstallTask, next: InstallTask): boolean {
  if (before.kind === 'keep' || next.kind === 'keep') return before.kind === next.kind;
  return (
    before.kind === next.kind &&
    before.located?.definition.revision === next.located?.definition.revision
  );
}

/** Whether the objects were as this revision desires, so that later deletions are not those of a changed definition. */
function isSettled(object: KubeObject, revision: string): boolean {
  const status = statusOfOwn(object, 'install');
  const ready = conditionsOf({ status }).find(({ type }) => type === 'Ready');
  return status?.definitionRevision === revision && ready?.status === 'True';
}
