import type { ManifestCheck } from '#check';
import {
  Controller,
  type Priority,
  type ReconcileContext,
  type ReconcileResult,
} from '#controller';
import { type LocatedDefinition, statusClaimOf } from '#definition';
import { type EventRecorder, KubeError, type Reader, type Writer } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { OwnPart } from '#util/stored-names.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DefinitionOrigin, DesiredDefinition } from '../desired-definition.ts';
import type { OwnObjects } from '../objects/own-object-informer.ts';
import type { Confirmation } from '../publish/publication.ts';
import type { PublishedManifests } from '../publish/publisher.ts';
import { stateIn } from '../recorded-state.ts';
import type { SharedOptions } from '../runner-options.ts';
import { RecordGate } from '../running/record-gate.ts';
import { RunningDefinition } from '../running/running-definition.ts';
import type { ViewChangeNotifier, ViewListener } from '../view-change-notifier.ts';
import type { StatusEvent } from '../view-part.ts';
import { type Decision, type DefinitionTask, decide, type FinalizeTask } from './decide.ts';
import { DefinitionReporter } from './definition-reporter.ts';
import { HandOvers } from './hand-overs.ts';
import { type InstallTasks, installTaskOf, installViewsOf, ownParts } from './install-tasks.ts';
import { KindOwners } from './kind-owners.ts';
import { ObjectOwnership } from './object-ownership.ts';
import { type DefinitionRecord, recordOf } from './record.ts';
import { RejectionLog } from './rejection-log.ts';
import { SpecReader } from './spec-reader.ts';
import { here, type TaskPlaces } from './task-places.ts';

interface DefinitionsControllerOptions extends SharedOptions {
  readonly cluster: SharedOptions['cluster'] & Reader & Writer & { readonly events: EventRecorder };
  readonly check: ManifestCheck;
  readonly notifier: ViewChangeNotifier;
  /** Of this runtime, as a label value. */
  readonly runtime: string;
  /** Name of a removed runtime whose objects this one takes over. @default undefined: none */
  readonly takeOverFrom?: string;
  /** Whether the runtime runs `OperatorDefinition` objects that users create. */
  readonly readsObjects: boolean;
  readonly objects: OwnObjects;
  readonly manifests: PublishedManifests;
  /** Where definitions run now. @default the cluster of this runtime alone */
  readonly places?: () => TaskPlaces;
  /** Called with a task of another revision or kind, before it begins. @default nothing */
  readonly onTask?: (task: DefinitionTask) => void;
  /** Manages the objects of definitions themselves. @default undefined: they are not managed */
  readonly installs?: InstallTasks;
  /** How long a definition keeps running after its manifest is removed, in ms. @default 30_000 */
  readonly stopDelayMs?: number;
  /** Called for changes of a definition's status, to record Events on the object and on its ConfigMap. */
  readonly onEvent: (event: StatusEvent, object: KubeObject, origin: DefinitionOrigin) => void;
}

/** Objects reconciled in parallel. */
const concurrency = 8;
/** Maximum delay between attempts. */
const maxDelayMs = 60_000;
/** Delay of the next attempt after a permanent error. */
const permanentErrorRetryMs = 600_000;

const unservedTask: FinalizeTask = {
  kind: 'finalize',
  reason: 'NotRead',
  message: 'The kind OperatorDefinition is not served',
};

/** A definition that this process knows. */
interface Known {
  readonly uid: string | undefined;
  readonly running: RunningDefinition;
  /** What it does, in the cluster of this runtime or in members. */
  task: DefinitionTask;
}

/** Runs definitions: reconciles `OperatorDefinition` objects by name. */
export class DefinitionsController {
  readonly #options: DefinitionsControllerOptions;
  readonly #controller: Controller;
  readonly #reader: SpecReader;
  readonly #ownership: ObjectOwnership;
  readonly #reporter: DefinitionReporter;
  readonly #kindOwners: KindOwners;
  readonly #handOvers: HandOvers;
  readonly #rejections: RejectionLog;
  readonly #known = new Map<string, Known>();
  readonly #grants = new Map<string, () => void>();
  #signal: AbortSignal = AbortSignal.abort();

  constructor(options: DefinitionsControllerOptions) {
    const { cluster, clock, logger, metrics, check, runtime } = options;
    this.#options = options;
    this.#reader = new SpecReader(check);
    this.#ownership = new ObjectOwnership(cluster, runtime);
    this.#reporter = new DefinitionReporter({
      ...options,
      onForeignChange: (name) => this.#controller.enqueue(name),
    });
    this.#kindOwners = new KindOwners({
      ...options,
      reader: this.#reader,
      isOfOther: (owner) => this.#isOfOther(owner),
      taskOf: (name) => this.#known.get(name)?.task,
    });
    this.#handOvers = new HandOvers(clock);
    this.#rejections = new RejectionLog(logger);
    this.#controller = new Controller({
      name: 'homeostat.dev/operatordefinitions',
      reconciler: { reconcile: (name, turn) => this.#reconcile(name, turn) },
      clock,
      logger,
      metrics,
      concurrency,
      maxDelayMs,
    });
  }

  /** Views of this runtime's definitions. */
  get views(): readonly DefinitionView[] {
    return [...this.#known.values()].map((known) => this.#viewOf(known));
  }

  /** The definitions that run or are starting. */
  get desired(): readonly DesiredDefinition[] {
    return Array.from(this.#known.values(), ({ task }) => task).flatMap((task) =>
      task.kind === 'run' ? [task.desired] : [],
    );
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    for (const { running, task } of this.#known.values()) this.#places.observe(running, task);
  }

  /** Call when the object or its manifest has changed. */
  enqueue(name: string, priority: Priority = 'normal'): void {
    this.#controller.enqueue(name, priority);
  }

  /** Call when what the definition shows has changed. */
  listenerOf(name: string): ViewListener {
    return this.#options.notifier.listenerFor((delayMs) =>
      this.#controller.enqueueAfter(name, delayMs),
    );
  }

  /** Call when every object may have changed. */
  enqueueAll(): void {
    const names = new Set([...this.#known.keys(), ...this.#options.manifests.names]);
    for (const { metadata } of this.#options.objects.list()) names.add(metadata.name);
    for (const name of names) this.#controller.enqueue(name, 'low');
  }

  /** Runs until the signal aborts and all work has ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    try {
      await this.#controller.run(signal);
    } finally {
      for (const cancel of this.#grants.values()) cancel();
      await Promise.all(Array.from(this.#known.values(), (known) => this.#stop(known)));
    }
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<ReconcileResult> {
    const { objects, manifests } = this.#options;
    if (!objects.isSynced) {
      if (objects.isGone) this.#suspend(name);
      return { kind: 'done' };
    }
    const { isPartial, afterMs: publishMs } = await manifests.publish(name, signal);
    if (isPartial) {
      this.#controller.enqueue(name);
      return { kind: 'done' };
    }
    const live = objects.get(name);
    try {
      if (live !== undefined)
        return again(await this.#reconcileObject(recordOf(live), signal), publishMs);
      // An object that has a manifest is created again; the definition keeps running.
      if (!manifests.hasManifest(name)) await this.#forget(name);
      return again({ kind: 'done' }, publishMs);
    } catch (error) {
      if (!(error instanceof KubeError) || !error.isPermanent) throw error;
      const known = this.#known.get(name) ?? (live && this.#add(recordOf(live)));
      known?.running.recordFailed(error);
      this.#enqueueWhenGranted(name, error);
      const failed = {
        kind: 'failed',
        afterMs: permanentErrorRetryMs,
        reason: error.message,
      } as const;
      // What is due does not wait for the error.
      return again(again(failed, publishMs), stopInMs(known?.task));
    }
  }

  /** Decides what is done for a definition, has it done, and reports how far it is. */
  async #reconcileObject(record: DefinitionRecord, signal: AbortSignal): Promise<ReconcileResult> {
    const { name } = record;
    const { takeOverFrom } = this.#options;
    const waitMs = this.#handOvers.waitMs(name, this.#isOfOther(record.runtime));
    if (waitMs > 0) return { kind: 'done', due: { afterMs: waitMs } };
    if (record.runtime !== undefined && record.runtime === takeOverFrom) {
      const taken = await this.#ownership.takeOver(record, signal);
      // It may be published now.
      this.#controller.enqueue(name);
      return taken === undefined
        ? { kind: 'done' }
        : this.#reconcileObject(recordOf(taken), signal);
    }
    const isRecreated = this.#known.get(name)?.uid !== record.object.metadata.uid;
    if (isRecreated && record.origin.source === 'object') await this.#forget(name);
    const before = this.#known.get(name);
    before?.running.recorded(stateIn(record));
    const desired = this.#decide(record, before?.running);
    if (desired.kind === 'ignore') {
      await this.#forget(name);
      return { kind: 'done' };
    }
    const known = before ?? this.#add(record);
    const { running } = known;
    const object = await this.#ownership.claim(record, desired, signal);
    // Another runtime has claimed the object; a watch event follows.
    if (object === undefined) return { kind: 'done' };
    const decision = this.#policiesFirst(known, record, desired);
    this.#rejections.log(record, decision);
    if (decision.kind !== 'release') this.#want(known, decision);
    // At once, also if the status cannot be written: a pause or an approval needs no record.
    this.#places.recorded(running, known.task);
    this.#install(known, record, decision);
    if (this.#isFinished(decision, running)) {
      await this.#ownership.release(record, signal);
      return { kind: 'done' };
    }
    const view = this.#viewOf(known);
    const report = await this.#reporter.report({ record, object, decision, running, view }, signal);
    // The object is deleted; a watch event follows.
    if (report === undefined) return { kind: 'done' };
    const reported = recordOf(report.object);
    running.recorded(stateIn(reported));
    this.#places.recorded(running, known.task);
    this.#install(known, reported, decision);
    const delays = [report.afterMs, stopInMs(decision)].filter((ms) => ms > 0);
    return { kind: 'done', ...(delays.length > 0 && { due: { afterMs: Math.min(...delays) } }) };
  }

  /** Without the kind, no object says what may run, and no status records it. The next object of the name resumes the definition. */
  #suspend(name: string): void {
    const known = this.#known.get(name);
    if (known?.task.kind === 'run' || known?.task.kind === 'wait')
      this.#setTask(known, unservedTask);
  }

  #want(known: Known, task: DefinitionTask): void {
    const { task: before } = known;
    if (!isSameWork(before, task)) this.#options.onTask?.(task);
    this.#setTask(known, task);
    // Another definition may own its kind now.
    if (releasesKind(before, task)) this.enqueueAll();
  }

  #setTask(known: Known, task: DefinitionTask): void {
    known.task = task;
    this.#places.setTask(known.running, task);
  }

  get #places(): TaskPlaces {
    return this.#options.places?.() ?? here;
  }

  /** Nothing is installed before the status records the revision. */
  #install(
    { running, task }: Known,
    { object }: DefinitionRecord,
    decision: Decision,
    parts = ownParts,
  ): void {
    const removed = decision.kind === 'finalize' ? decision.uninstall?.located : undefined;
    const accepted = acceptedOf(running, task) ?? removed;
    const { name, isRecorded } = running;
    const isRemoved = this.#isUninstalled(running);
    for (const part of parts) {
      const next = installTaskOf(part, { object, accepted, decision, isRecorded, isRemoved });
      if (next !== undefined) this.#options.installs?.want(name, part, next);
    }
  }

  #viewOf({ running, task }: Known): DefinitionView {
    const view = this.#places.viewOf(running, task);
    const object = this.#options.objects.get(running.name);
    const accepted = acceptedOf(running, task);
    if (object === undefined) return view;
    const problemOf = (part: OwnPart) => this.#options.installs?.problemOf(running.name, part);
    return { ...view, ...installViewsOf({ object, accepted }, problemOf) };
  }

  /** Whether the finalizer of the object can be removed. */
  #isFinished(decision: Decision, running: RunningDefinition): boolean {
    if (decision.kind === 'release') return true;
    if (decision.kind !== 'finalize' || decision.reason !== 'Deleted') return false;
    return this.#isUninstalled(running) && ownParts.every((part) => this.#isEnded(running, part));
  }

  /** Whether the objects of a part are removed, if they are to be. */
  #isEnded({ name }: RunningDefinition, part: OwnPart): boolean {
    return this.#options.installs?.isDone(name, part) !== false;
  }

  /**
   * Its policies end first: they could deny the deletion of what it created. Until then, resources are only finalized.
   */
  #policiesFirst<Next extends Decision>(
    known: Known,
    record: DefinitionRecord,
    decision: Next,
  ): Next | FinalizeTask {
    if (decision.kind !== 'finalize' || decision.uninstall === undefined) return decision;
    this.#install(known, record, decision, ['admission']);
    if (this.#isEnded(known.running, 'admission')) return decision;
    const { uninstall: _, ...waiting }: FinalizeTask = decision;
    return { ...waiting, message: 'Removing its admission policies' };
  }

  /** Whether its resources are finalized, and what is deleted with it is deleted. */
  #isUninstalled({ name, isDone }: RunningDefinition): boolean {
    return isDone && this.#places.isDone(name);
  }

  #decide(record: DefinitionRecord, running: RunningDefinition | undefined): Decision {
    const { runtime, readsObjects, manifests, clock, stopDelayMs = 30_000 } = this.#options;
    // Those of another runtime are not parsed.
    const { revisions } = this.#isOfOther(record.runtime)
      ? { revisions: [] }
      : (running?.state ?? record);
    const recorded = revisions.flatMap((each) => this.#reader.revision(record.name, each) ?? []);
    const decision = decide({
      record,
      runtime,
      readsObjects,
      recorded,
      stopDelayMs,
      readSpec: () => this.#reader.read(record.object),
      confirmation: this.#confirmationOf(record),
      originState: manifests.originState(record.origin),
      hasManifest: manifests.hasManifest(record.name),
      nowMs: clock.nowMs(),
      hasRun: running?.hasRun ?? false,
    });
    return this.#kindOwners.resolve(decision, record, recorded[0]);
  }

  #confirmationOf({ name, object }: DefinitionRecord): Confirmation | undefined {
    const found = this.#options.manifests.confirmationOf(object);
    return found && { ...found, located: this.#reader.remember(name, found.located) };
  }

  #add(record: DefinitionRecord): Known {
    const { name, object } = record;
    const listener = this.listenerOf(name);
    const gate = new RecordGate(stateIn(record), () => listener.awaited());
    const running = new RunningDefinition({ ...this.#options, name, gate, listener }, this.#signal);
    const known = { uid: object.metadata.uid, running, task: running.task };
    this.#known.set(name, known);
    return known;
  }

  async #stop({ running }: Known): Promise<void> {
    await this.#options.installs?.forget(running.name);
    await this.#places.forget(running.name);
    await running.stop();
  }

  async #forget(name: string): Promise<void> {
    if (this.#options.objects.get(name) === undefined) this.#handOvers.forget(name);
    this.#grants.get(name)?.();
    this.#grants.delete(name);
    const known = this.#known.get(name);
    if (known === undefined) return;
    await this.#stop(known);
    this.#known.delete(name);
    this.#reader.forget(name);
    this.#reporter.forget(name);
    this.#rejections.forget(name);
    // Another definition may own its kind now.
    this.enqueueAll();
  }

  /** Whether the object belongs to another runtime. */
  #isOfOther(runtime: string | undefined): boolean {
    return runtime !== undefined && runtime !== this.#options.runtime;
  }

  #enqueueWhenGranted(name: string, { right }: KubeError): void {
    if (right === undefined) return;
    this.#grants.get(name)?.();
    const unsubscribe = this.#options.cluster.onGranted(right, () =>
      this.#controller.enqueue(name),
    );
    this.#grants.set(name, unsubscribe);
  }
}

/** Whether both are of one kind and, if they run or uninstall something, of one revision. */
function isSameWork(before: DefinitionTask, task: DefinitionTask): boolean {
  const revisionOf = (each: DefinitionTask) => {
    if (each.kind === 'run') return each.desired.located.definition.revision;
    return each.kind === 'finalize' ? each.uninstall?.located.definition.revision : undefined;
  };
  return before.kind === task.kind && revisionOf(before) === revisionOf(task);
}

/** The revision that the status records. Undefined: none that this process runs. */
function acceptedOf(
  { state }: RunningDefinition,
  task: DefinitionTask,
): LocatedDefinition | undefined {
  if (task.kind !== 'run') return undefined;
  const revision = state.revisions[0]?.revision;
  const { located, previous = [] } = task.desired;
  return [located, ...previous].find(({ definition }) => definition.revision === revision);
}

/** The result, and again after `ms` if that is earlier; 0: no need. */
function again(result: ReconcileResult, ms: number): ReconcileResult {
  if (ms === 0) return result;
  return { ...result, due: { afterMs: Math.min(result.due?.afterMs ?? ms, ms) } };
}

function stopInMs(decision: Decision | undefined): number {
  return decision?.kind === 'run' ? (decision.stopInMs ?? 0) : 0;
}

/** Whether a kind that the definition had, or may have had, is not its own any more. */
function releasesKind(before: DefinitionTask, task: DefinitionTask): boolean {
  if (task.kind !== 'run') return task.kind === 'finalize' && before.kind !== 'finalize';
  return (
    before.kind === 'run' &&
    statusClaimOf(before.desired.located.definition) !==
      statusClaimOf(task.desired.located.definition)
  );
}
