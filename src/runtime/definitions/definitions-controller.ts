import type { ManifestCheck } from '../../check/index.ts';
import { Controller, type ReconcileContext, type ReconcileResult } from '../../controller/index.ts';
import type { LocatedDefinition } from '../../definition/index.ts';
import { type EventRecorder, KubeError, type Reader, type Writer } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DefinitionOrigin, DesiredDefinition } from '../desired-definition.ts';
import { flowOf, passTokenOf } from '../objects/names.ts';
import type { OwnObjects } from '../objects/own-object-informer.ts';
import { StatusReporter } from '../objects/status-reporter.ts';
import type { Confirmation } from '../publish/publication.ts';
import type { PublishedManifests } from '../publish/publisher.ts';
import type { SharedOptions } from '../runner-options.ts';
import { type Decision, type DefinitionTask, decide, type FinalizeTask, reject } from './decide.ts';
import type { DefinitionFacts } from './definition-conditions.ts';
import { DefinitionEntry } from './definition-entry.ts';
import {
  type DefinitionStatus,
  differsInCountsOnly,
  eventsBetween,
  hasStatus,
  type StatusEvent,
  statusOf,
} from './definition-status.ts';
import { claimedKind, type KindClaim, kindConflictMessage, ownerOf } from './kind-claims.ts';
import type { MemberTasks } from './member-tasks.ts';
import { ObjectOwnership } from './object-ownership.ts';
import { type DefinitionRecord, liveStatus, recordOf, runtimeOf } from './record.ts';
import { SpecReader } from './spec-reader.ts';

interface DefinitionsControllerOptions extends SharedOptions {
  readonly cluster: SharedOptions['cluster'] & Reader & Writer & { readonly events: EventRecorder };
  readonly check: ManifestCheck;
  /** Of this runtime, as a label value. */
  readonly runtime: string;
  /** Name of a removed runtime whose objects this one takes over. @default undefined: none */
  readonly takeOverFrom?: string;
  /** Whether the runtime runs `OperatorDefinition` objects that users create. */
  readonly readsObjects: boolean;
  readonly objects: OwnObjects;
  readonly manifests: PublishedManifests;
  /** @default undefined: the runtime has no members */
  readonly memberTasks?: MemberTasks;
  /** How long a definition keeps running after its manifest is removed, in ms. @default 30_000 */
  readonly stopDelayMs?: number;
  /** Called for changes of a definition's status, to record Events on the object and on its ConfigMap. */
  readonly onEvent: (event: StatusEvent, object: KubeObject, origin: DefinitionOrigin) => void;
}

/** Objects reconciled in parallel. */
const concurrency = 4;
/** Maximum delay between attempts. */
const maxDelayMs = 60_000;
/** Delay of the next attempt after a permanent error. */
const permanentErrorRetryMs = 600_000;
/** Minimum time between writes of counts. */
const countsMs = 1_000;
const limits = { burst: 5, refillMs: 1_000 };
/** How long an object of another runtime is not touched after its label is removed: that runtime may still be running. */
const handOverMs = 30_000;

const unservedTask: FinalizeTask = {
  kind: 'finalize',
  reason: 'NotRead',
  message: 'The kind OperatorDefinition is not served',
};

/** Runs definitions: reconciles `OperatorDefinition` objects by name. */
export class DefinitionsController {
  readonly #options: DefinitionsControllerOptions;
  readonly #controller: Controller;
  readonly #reader: SpecReader;
  readonly #ownership: ObjectOwnership;
  readonly #reporter: StatusReporter<DefinitionStatus>;
  readonly #entries = new Map<string, DefinitionEntry>();
  /** By name: monotonic time at which another runtime's label was removed; undefined: it still has the label. */
  readonly #handedOver = new Map<string, number | undefined>();
  readonly #grants = new Map<string, () => void>();
  #signal: AbortSignal | undefined;

  constructor(options: DefinitionsControllerOptions) {
    const { cluster, clock, logger, metrics, check, runtime, onEvent } = options;
    this.#options = options;
    this.#reader = new SpecReader(check);
    this.#ownership = new ObjectOwnership(cluster, runtime);
    this.#reporter = new StatusReporter<DefinitionStatus>({
      cluster,
      clock,
      limits,
      countsMs,
      fieldManager: 'homeostat/operatordefinitions.status',
      writeOptionsOf: (name) => ({ flow: flowOf(name), pass: passTokenOf(name, 'controller') }),
      hasStatus: (object, status, ignoresCounts) =>
        ignoresCounts ? differsInCountsOnly(object, status) : hasStatus(object, status),
      onWritten(before, status) {
        for (const event of eventsBetween(liveStatus(before), status))
          onEvent(event, before, recordOf(before).origin);
      },
    });
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
    return [...this.#entries.values()].map(({ view }) => view);
  }

  /** The definitions that run or are starting. */
  get desired(): readonly DesiredDefinition[] {
    return Array.from(this.#entries.values(), ({ task }) => task).flatMap((task) =>
      task.kind === 'run' ? [task.desired] : [],
    );
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    for (const entry of this.#entries.values()) entry.observe();
  }

  /** Call when the object or its manifest has changed. */
  enqueue(name: string): void {
    this.#controller.enqueue(name);
  }

  /** Call when every object may have changed. */
  enqueueAll(): void {
    const names = new Set(this.#entries.keys());
    for (const { metadata } of this.#options.objects.list()) names.add(metadata.name);
    for (const name of names) this.#controller.enqueue(name, 'low');
  }

  /** Runs until the signal aborts and all work has ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const unsubscribe = this.#options.notifier.subscribeChecks(() => this.#checkViews());
    try {
      await this.#controller.run(signal);
    } finally {
      unsubscribe();
      for (const cancel of this.#grants.values()) cancel();
      await Promise.all(Array.from(this.#entries.values(), (entry) => entry.stop()));
    }
  }

  #checkViews(): void {
    for (const entry of this.#entries.values())
      if (entry.hasNewView()) this.#controller.enqueue(entry.name);
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<ReconcileResult> {
    const { objects, manifests } = this.#options;
    if (!objects.isSynced) {
      if (objects.isGone) this.#suspend(name);
      return { kind: 'done' };
    }
    const live = objects.get(name);
    try {
      // The publisher recreates an object that has a manifest; the definition keeps running.
      if (live === undefined && manifests.hasManifest(name)) return { kind: 'done' };
      if (live !== undefined) return await this.#reconcileObject(recordOf(live), signal);
      await this.#forget(name);
      return { kind: 'done' };
    } catch (error) {
      if (!(error instanceof KubeError) || !error.isPermanent) throw error;
      const entry = this.#entries.get(name) ?? (live && this.#createEntry(recordOf(live)));
      entry?.setWriteError(error);
      this.#enqueueWhenGranted(name, error);
      return { kind: 'failed', afterMs: permanentErrorRetryMs, reason: error.message };
    }
  }

  async #reconcileObject(record: DefinitionRecord, signal: AbortSignal): Promise<ReconcileResult> {
    const { name } = record;
    const waitMs = this.#handOverWait(record);
    if (waitMs > 0) return { kind: 'done', afterMs: waitMs };
    if (record.runtime !== undefined && record.runtime === this.#options.takeOverFrom) {
      const updated = await this.#ownership.takeOver(record, signal);
      return updated === undefined
        ? { kind: 'done' }
        : this.#reconcileObject(recordOf(updated), signal);
    }
    const isRecreated = this.#entries.get(name)?.uid !== record.object.metadata.uid;
    if (isRecreated && record.origin.source === 'object') await this.#forget(name);
    const known = this.#entries.get(name);
    known?.syncState(record);
    const decision = this.#decide(record, known);
    if (decision.kind === 'ignore') {
      await this.#forget(name);
      return { kind: 'done' };
    }
    const entry = known ?? this.#createEntry(record);
    const object = await this.#ownership.claim(record, decision, signal);
    // Another runtime has claimed the object; a watch event follows.
    if (object === undefined) return { kind: 'done' };
    entry.logRejection(record, decision);
    if (decision.kind !== 'release') this.#perform(entry, decision);
    if (isFinished(decision, entry)) {
      await this.#ownership.release(record, signal);
      return { kind: 'done' };
    }
    const facts = entry.factsFor(record, decision);
    entry.metrics.recordFacts(facts);
    const startMs = entry.statusDelayMs(record);
    const delayMs = startMs > 0 ? startMs : await this.#report(entry, { object, facts }, signal);
    const delays = [delayMs, stopInMs(decision)].filter((ms) => ms > 0);
    return { kind: 'done', ...(delays.length > 0 && { afterMs: Math.min(...delays) }) };
  }

  /** Without the kind, no object says what may run, and no status records it. The next object of the name resumes the definition. */
  #suspend(name: string): void {
    const entry = this.#entries.get(name);
    if (entry?.task.kind === 'run' || entry?.task.kind === 'wait') entry.setTask(unservedTask);
  }

  #perform(entry: DefinitionEntry, task: DefinitionTask): void {
    const ran = entry.task.kind === 'run';
    entry.setTask(task);
    // Another definition may own its kind now.
    if (ran && task.kind !== 'run') this.enqueueAll();
  }

  /** @returns the delay of the report, in ms. */
  async #report(
    entry: DefinitionEntry,
    { object, facts }: { readonly object: KubeObject; readonly facts: DefinitionFacts },
    signal: AbortSignal,
  ): Promise<number> {
    const now = new Date(this.#options.clock.nowMs()).toISOString();
    const status = statusOf({ facts, object, now });
    const delayMs = await this.#reporter.report(object, status, signal);
    if (delayMs === 0) entry.onStatusWritten(facts.persisted);
    // The object is deleted; a watch event follows.
    return delayMs ?? 0;
  }

  #decide(record: DefinitionRecord, entry: DefinitionEntry | undefined): Decision {
    const { runtime, readsObjects, manifests, clock, stopDelayMs = 30_000 } = this.#options;
    const confirmation = this.#confirmationOf(record);
    // Those of another runtime are not parsed.
    const { revisions } = this.#isOfOther(record) ? { revisions: [] } : (entry?.state ?? record);
    const recorded = revisions.flatMap((each) => this.#reader.revision(record.name, each) ?? []);
    const decision = decide({
      record,
      runtime,
      readsObjects,
      recorded,
      stopDelayMs,
      readSpec: () => this.#reader.read(record.object),
      confirmation,
      originState: manifests.originState(record.origin),
      hasManifest: manifests.hasManifest(record.name),
      nowMs: clock.nowMs(),
      hasRun: entry?.hasRun ?? false,
    });
    return decision.kind === 'run'
      ? this.#resolveKindConflict(decision, record, recorded)
      : decision;
  }

  #confirmationOf({ name, object }: DefinitionRecord): Confirmation | undefined {
    const found = this.#options.manifests.confirmationOf(object);
    return found && { ...found, located: this.#reader.remember(name, found.located) };
  }

  /** Rejects a definition whose kind's status has another owner. A revision accepted before keeps running. */
  #resolveKindConflict(
    decision: Extract<Decision, { kind: 'run' }>,
    record: DefinitionRecord,
    [accepted]: readonly LocatedDefinition[],
  ): Decision {
    const conflict = this.#kindConflict(record, decision.desired.located);
    if (conflict === undefined) return decision;
    const { revision } = decision.desired.located.definition;
    const rejection = { revision, message: conflict, diagnostics: [] };
    const canKeepRunning =
      accepted !== undefined && this.#kindConflict(record, accepted) === undefined;
    if (!canKeepRunning) return reject(record, rejection);
    return { ...decision, desired: { ...decision.desired, located: accepted, rejection } };
  }

  #kindConflict(
    { name, object }: DefinitionRecord,
    located: LocatedDefinition,
  ): string | undefined {
    const kind = claimedKind(located);
    if (kind === undefined) return undefined;
    const own = this.#claimOf(object, located);
    const others = Iterator.from(this.#options.objects.list())
      .filter(({ metadata }) => metadata.name !== name && metadata.deletionTimestamp === undefined)
      .flatMap((other) => {
        const its = this.#locatedOf(other);
        return its === undefined || claimedKind(its) !== kind ? [] : [this.#claimOf(other, its)];
      });
    const owner = ownerOf([own, ...others]);
    return owner === undefined || owner === own ? undefined : kindConflictMessage(own, owner);
  }

  #claimOf(object: KubeObject, located: LocatedDefinition): KindClaim {
    const { name, creationTimestamp = '' } = object.metadata;
    const [accepted] = recordOf(object).revisions;
    const before = accepted && this.#reader.revision(name, accepted);
    const isAccepted = before !== undefined && claimedKind(before) === claimedKind(located);
    return { name, located, isAccepted, createdMs: Date.parse(creationTimestamp) };
  }

  /** The revision of another object that runs or is starting. */
  #locatedOf(object: KubeObject): LocatedDefinition | undefined {
    if (this.#isOfOther({ runtime: runtimeOf(object) })) return undefined;
    const task = this.#entries.get(object.metadata.name)?.task;
    if (task?.kind === 'run') return task.desired.located;
    if (task?.kind === 'finalize') return undefined;
    // Only now: each definition asks for all others whenever its status may have changed.
    const record = recordOf(object);
    const { manifests, readsObjects } = this.#options;
    const [accepted] = record.revisions;
    const isOwn = record.origin.source === 'object';
    return (
      manifests.confirmationOf(object)?.located ??
      (accepted && this.#reader.revision(record.name, accepted)) ??
      (isOwn && readsObjects ? this.#reader.read(object).located : undefined)
    );
  }

  #createEntry(record: DefinitionRecord): DefinitionEntry {
    const { name } = record;
    const signal = this.#signal ?? AbortSignal.abort();
    const entry = new DefinitionEntry({
      ...this.#options,
      record,
      signal,
      onChange: () => this.#controller.enqueue(name),
    });
    this.#entries.set(name, entry);
    return entry;
  }

  async #forget(name: string): Promise<void> {
    if (this.#options.objects.get(name) === undefined) this.#handedOver.delete(name);
    this.#grants.get(name)?.();
    this.#grants.delete(name);
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    await entry.stop();
    this.#entries.delete(name);
    this.#reader.forget(name);
    this.#reporter.forget(name);
    // Another definition may own its kind now.
    this.enqueueAll();
  }

  /** How long to wait before using an object that another runtime had, in ms. */
  #handOverWait(record: DefinitionRecord): number {
    const { name } = record;
    const { clock } = this.#options;
    if (this.#isOfOther(record)) {
      this.#handedOver.set(name, undefined);
      return 0;
    }
    if (!this.#handedOver.has(name)) return 0;
    const sinceMs = this.#handedOver.get(name) ?? clock.monotonicMs();
    this.#handedOver.set(name, sinceMs);
    const leftMs = sinceMs + handOverMs - clock.monotonicMs();
    if (leftMs <= 0) this.#handedOver.delete(name);
    return Math.max(0, leftMs);
  }

  /** Whether the object belongs to another runtime. */
  #isOfOther({ runtime }: Pick<DefinitionRecord, 'runtime'>): boolean {
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

/** Whether the finalizer of the object can be removed. */
function isFinished(decision: Decision, { isDone }: DefinitionEntry): boolean {
  switch (decision.kind) {
    case 'release':
      return true;
    case 'finalize':
      return decision.reason === 'Deleted' && isDone;
    default:
      return false;
  }
}

function stopInMs(decision: Decision): number {
  return decision.kind === 'run' ? (decision.stopInMs ?? 0) : 0;
}
