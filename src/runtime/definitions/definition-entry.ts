import { runsInMembers } from '../../definition/index.ts';
import type { KubeError } from '../../kube/roles.ts';
import { rightText } from '../../reconcile/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { conditionsOf } from '../../util/kube-object.ts';
import type { DefinitionMetrics } from '../definition-metrics.ts';
import { type DefinitionView, isStarting } from '../definition-view.ts';
import type { Rejection } from '../desired-definition.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { Decision, DefinitionTask, FinalizeTask } from './decide.ts';
import type { DefinitionFacts, PersistedState } from './definition-conditions.ts';
import { DefinitionTaskRunner } from './definition-task-runner.ts';
import { type MemberTasks, viewInMembers, withMembers } from './member-tasks.ts';
import { PersistedStateTracker } from './persisted-state.ts';
import type { DefinitionRecord, RecordedKinds } from './record.ts';

interface DefinitionEntryOptions extends SharedOptions {
  readonly record: DefinitionRecord;
  /** @default undefined: the runtime has no members */
  readonly memberTasks?: MemberTasks;
  /** Stops all work. */
  readonly signal: AbortSignal;
  /** The status must be written. */
  readonly onChange: () => void;
}

/** A start within this time is not written to the status. */
const startGraceMs = 5_000;
/** As {@link startGraceMs}, in members: an unreachable one is reported after 15 s. */
const membersGraceMs = 20_000;

const inMembers: FinalizeTask = {
  kind: 'finalize',
  reason: 'Withdrawn',
  message: 'It runs in member clusters',
};
/** Kinds of members are recorded by member. */
const noKinds: RecordedKinds = { resources: [], children: [] };

/** One definition in this process: its persisted state, and its tasks in the cluster of this runtime or in members. */
export class DefinitionEntry {
  readonly name: string;
  readonly uid: string | undefined;
  readonly #persisted: PersistedStateTracker;
  /** Runs its tasks in the cluster of this runtime. */
  readonly #hub: DefinitionTaskRunner;
  /** Undefined: the runtime has no members. */
  readonly #members: MemberTasks | undefined;
  readonly #signal: AbortSignal;
  #task: DefinitionTask;
  #hasRunInMembers = false;
  /** Aborts when the task changes before its revision is recorded. */
  #recording = new AbortController();
  #lastView: DefinitionView | undefined;
  #writeError: KubeError | undefined;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #createdMs: number;
  /** The rejection logged last. */
  #loggedRejection: Rejection | undefined;

  constructor({
    record,
    memberTasks: members,
    signal,
    onChange,
    ...shared
  }: DefinitionEntryOptions) {
    const { name, revisions, kinds, rollout } = record;
    this.name = name;
    this.uid = record.object.metadata.uid;
    this.#logger = shared.logger;
    this.#clock = shared.clock;
    this.#createdMs = shared.clock.monotonicMs();
    this.#members = members;
    this.#signal = signal;
    this.#persisted = new PersistedStateTracker({ revisions, kinds }, onChange, rollout);
    const persisted = this.#persisted;
    this.#hub = new DefinitionTaskRunner(
      {
        ...shared,
        name,
        kinds: () => persisted.state.kinds,
        onDone: onChange,
        record: (located, ending) => persisted.record(located, ending),
        onKindsGone: (gone) => persisted.dropKinds(gone),
      },
      signal,
    );
    this.#task = this.#hub.task;
  }

  get task(): DefinitionTask {
    return this.#task;
  }

  /** Whether this process has run the definition. */
  get hasRun(): boolean {
    return this.#hub.hasRun || this.#hasRunInMembers;
  }

  /** Whether finalizing is complete in every cluster. */
  get isDone(): boolean {
    return this.#hub.isDone && this.#members?.isDone(this.name) !== false;
  }

  get metrics(): DefinitionMetrics {
    return this.#hub.metrics;
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    this.#hub.observe();
    const found = this.#members?.viewOf(this.name);
    if (found === undefined || !isRunInMembers(this.#task)) return;
    const { instances, readyInstances: ready } = found.sums;
    this.metrics.observe(this.view, { ready, unready: instances - ready, unknown: 0 });
  }

  /** Changes the task. Returns at once. */
  setTask(task: DefinitionTask): void {
    this.#task = task;
    if (task.kind === 'run') this.#persisted.keepPlaces(task.desired.located);
    this.#recording.abort(new Error('The task has changed'));
    if (!isRunInMembers(task)) {
      this.#hub.setTask(hubTaskOf(task));
      this.#members?.setTask(this.name, task);
      return;
    }
    this.#hasRunInMembers = true;
    this.#hub.setTask(inMembers);
    this.#recording = new AbortController();
    const ending = AbortSignal.any([this.#signal, this.#recording.signal]);
    this.#persisted.record(task.desired.located, ending, noKinds).then(
      () => ending.aborted || this.#members?.setTask(this.name, task),
      () => {},
    );
  }

  /** Stops for good; resolves when all tasks have ended. */
  async stop(): Promise<void> {
    this.#recording.abort(new Error('The definition was removed'));
    await this.#members?.forget(this.name);
    await this.#hub.stop();
  }

  get state(): PersistedState {
    return this.#persisted.state;
  }

  /** Takes over the state from a status that another process wrote. */
  syncState({ revisions, kinds }: DefinitionRecord): void {
    this.#persisted.sync({ revisions, kinds });
  }

  get view(): DefinitionView {
    const view = this.#taskView;
    if (this.#writeError === undefined) return view;
    const { right, message } = this.#writeError;
    const reason = right === undefined ? message : rightText(right);
    // It cannot start before its revision is persisted.
    if (view.state.kind === 'starting')
      return { ...view, state: { kind: 'starting', message: reason } };
    return { ...view, problems: [...view.problems, reason] };
  }

  get #taskView(): DefinitionView {
    const found = this.#members?.viewOf(this.name);
    if (isRunInMembers(this.#task))
      return viewInMembers(this.name, this.#task.desired.located, found);
    return found === undefined ? this.#hub.view : withMembers(this.#hub.view, found);
  }

  /** Whether the view has changed since the last report. */
  hasNewView(): boolean {
    return !deepEqual(this.#lastView, this.view);
  }

  setWriteError(error: KubeError): void {
    this.#writeError = error;
  }

  /** Logs once why the newest revision is rejected. Errors of published manifests are logged when they are parsed. */
  logRejection({ origin }: DefinitionRecord, decision: Decision): void {
    const goesOn = decision.kind === 'run';
    const found = rejectionIn(decision);
    const isNew = origin.source === 'object' || found?.revision !== undefined;
    const rejection = isNew ? found : undefined;
    if (deepEqual(rejection, this.#loggedRejection)) return;
    this.#loggedRejection = rejection;
    if (rejection === undefined) return;
    const { message: reason, diagnostics } = rejection;
    const about = { definition: this.name, reason, ...(diagnostics.length > 0 && { diagnostics }) };
    const text = goesOn
      ? 'Change rejected, the active revision keeps running'
      : 'Definition rejected';
    this.#logger.warn(about, text);
  }

  /** Collects everything that determines the status. */
  factsFor({ origin, isPaused, isDeleted }: DefinitionRecord, decision: Decision): DefinitionFacts {
    const { view } = this;
    this.#lastView = view;
    this.#persisted.prune(view);
    const { desired } = decision.kind === 'run' ? decision : {};
    const rejection =
      desired?.rejection ??
      view.rejection ??
      (view.state.kind === 'rejected' ? { ...view.state, revision: view.revision } : undefined);
    const rollout = view.rollout ?? this.#persisted.rollout;
    return {
      origin,
      view,
      isPaused,
      isDeleted,
      warnings: desired?.warnings ?? [],
      persisted: this.#persisted.state,
      ...(rejection && { rejection }),
      ...(rollout && { rollout }),
      ...inactiveReason(decision),
    };
  }

  /**
   * How long to delay the status of a starting definition, in ms: after a restart most definitions run again within moments and need no
   * status write.
   */
  statusDelayMs({ object }: DefinitionRecord): number {
    const { view } = this;
    const isNew = conditionsOf(object).length === 0;
    if (!isStarting(view) || isNew || this.#persisted.isAwaited || this.#writeError !== undefined)
      return 0;
    return Math.max(
      0,
      this.#createdMs +
        (view.isSettling === true ? membersGraceMs : startGraceMs) -
        this.#clock.monotonicMs(),
    );
  }

  /** Call when the status contains `state`. */
  onStatusWritten(persisted: PersistedState): void {
    this.#writeError = undefined;
    this.#persisted.onWritten(persisted);
  }
}

function isRunInMembers(task: DefinitionTask): task is Extract<DefinitionTask, { kind: 'run' }> {
  return task.kind === 'run' && runsInMembers(task.desired.located.definition);
}

/** What it created in the cluster of this runtime before belongs to no uninstall of members. */
function hubTaskOf(task: DefinitionTask): DefinitionTask {
  if (task.kind !== 'finalize' || task.uninstall === undefined) return task;
  const { uninstall, ...rest } = task;
  return runsInMembers(uninstall.located.definition) ? rest : task;
}

function rejectionIn(decision: Decision): Rejection | undefined {
  if (decision.kind === 'run') return decision.desired.rejection;
  return decision.kind === 'finalize' ? decision.rejection : undefined;
}

function inactiveReason(decision: Decision): Pick<DefinitionFacts, 'inactive'> {
  if (decision.kind !== 'finalize') return {};
  const { reason, message } = decision;
  if (reason === 'NotRead') return { inactive: { reason, message } };
  return reason === 'Withdrawn'
    ? { inactive: { reason, message: 'Its manifest was removed' } }
    : {};
}
