import { type ClusterSelector, selectsMember } from '#definition';
import type { JsonObject } from '#util/json.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import { kindsStatus, recordedInEntry } from '../recorded-state.ts';
import type { SharedOptions } from '../runner-options.ts';
import { RecordGate } from '../running/record-gate.ts';
import { RunningDefinition } from '../running/running-definition.ts';
import type { ViewListener } from '../view-change-notifier.ts';
import type { RecordedDefinition } from './cluster-record.ts';
import { entryOf, failureIn, type MemberFailure } from './definition-entry.ts';
import { LeaseClaim, releaseLease } from './lease-claim.ts';

interface MemberDefinitionOptions {
  /** From the status of the `Cluster`. @default undefined: it is new there */
  readonly recorded?: RecordedDefinition;
  readonly name: string;
  readonly listener: ViewListener;
}

type MemberOptions = SharedOptions & Required<Pick<SharedOptions, 'hub'>>;

/** One definition in one member: what is recorded about it, and its tasks while the member is connected. */
export class MemberDefinition {
  readonly name: string;
  readonly #gate: RecordGate;
  readonly #listener: ViewListener;
  /** Whether the status of the `Cluster` lists it. */
  #isRecorded: boolean;
  /** Its entry in the status before it was connected. */
  #entry: JsonObject;
  #task: DefinitionTask | undefined;
  /** Set while the member is connected. */
  #connected: { readonly shared: MemberOptions; readonly signal: AbortSignal } | undefined;
  #work: { readonly running: RunningDefinition; readonly claim: LeaseClaim } | undefined;
  /** Set while the work before has not ended: what begins then would work on the same objects. */
  #ending: Promise<void> | undefined;

  constructor({ name, recorded, listener }: MemberDefinitionOptions) {
    this.name = name;
    this.#listener = listener;
    this.#isRecorded = recorded !== undefined;
    this.#entry = recorded ?? { name, state: 'Starting', resources: 0, ready: 0 };
    this.#gate = new RecordGate(recordedInEntry(this.#entry), () => listener.awaited());
  }

  /** Whether it has nothing left to do there and its Lease can be deleted. */
  get isDone(): boolean {
    if (this.#task?.kind !== 'finalize' || this.#work === undefined) return false;
    const { running, claim } = this.#work;
    // What is there belongs to another hub now.
    if (claim.state.kind === 'taken') return true;
    const hasNothing = this.#gate.state.kinds.resources.length === 0;
    return running.isDone || (claim.state.kind === 'failed' && hasNothing);
  }

  /** Whether work waits until the status of the `Cluster` is written. */
  get isAwaited(): boolean {
    return !this.#isRecorded || !this.#gate.isOpen;
  }

  get revisions(): readonly string[] {
    return this.#gate.state.revisions.map(({ revision }) => revision);
  }

  /** Undefined while nothing works on it: the member is not connected, or it has no task. */
  get view(): DefinitionView | undefined {
    const { running, claim } = this.#work ?? {};
    if (running === undefined || claim === undefined) return undefined;
    if (claim.state.kind === 'taken' || claim.state.kind === 'failed') {
      return { ...running.view, state: { ...claim.state, kind: 'failing' } };
    }
    return this.#gate.complete(running.view);
  }

  /** Why it does not run. Undefined: it runs, or is starting. */
  get failure(): MemberFailure | undefined {
    if (this.#work?.claim.state.kind === 'taken')
      return { reason: 'Conflict', message: this.#work.claim.state.message };
    return this.view && failureIn(this.view);
  }

  /** The member is connected: works on the task, if it has one. */
  start(shared: MemberOptions, signal: AbortSignal): void {
    this.#connected = { shared, signal };
    this.#begin();
  }

  /** The member is not connected any more: ends all work; resolves when it has ended. What is recorded stays. */
  stop(): Promise<void> {
    this.#connected = undefined;
    return this.#end();
  }

  /** Takes the task away: ends all work; resolves when it has ended. What is recorded stays. */
  forget(): Promise<void> {
    this.#task = undefined;
    return this.#end();
  }

  /** Gives the member up for this definition. @throws KubeError */
  async release(signal: AbortSignal): Promise<void> {
    await this.#ending;
    const { shared } = this.#connected ?? {};
    if (this.#work !== undefined) await this.#work.claim.release(signal);
    else if (shared !== undefined)
      await releaseLease({ ...shared, definition: this.name, hub: shared.hub.uid }, signal);
    await this.stop();
  }

  /** Changes its task. Nothing happens in the member before the status of the `Cluster` lists it. */
  setTask(task: DefinitionTask): void {
    const wasDone = this.isDone;
    this.#task = task;
    if (this.#work === undefined) this.#begin();
    else this.#perform();
    // Where another hub serves it there is no work whose end would be noticed.
    if (this.isDone && !wasDone) this.#listener.awaited();
  }

  /** Its entry in the status of the `Cluster`. */
  report(): JsonObject {
    return this.#statusEntry();
  }

  /** Call with the entry that the status contains. */
  recorded(entry: RecordedDefinition): void {
    this.#isRecorded = true;
    this.#gate.recorded(recordedInEntry(entry));
    this.#perform();
  }

  /** Call when the labels of the member have changed: expressions may use them. */
  runAll(): void {
    this.#work?.running.runAll();
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    this.#work?.running.observe();
  }

  #statusEntry(): JsonObject {
    if (this.#work !== undefined) this.#gate.report(this.#work.running.view);
    const { view, failure } = this;
    const [revision, ...older] = this.revisions;
    const { revision: _, older: __, kinds: ___, ...last } = this.#entry;
    const shown = view === undefined ? last : entryOf(this.name, view, failure);
    const { kinds } = this.#gate.state;
    const hasKinds = kinds.resources.length + kinds.children.length > 0;
    return {
      ...shown,
      ...(revision !== undefined && { revision }),
      ...(older.length > 0 && { older }),
      ...(hasKinds && { kinds: kindsStatus(kinds) }),
    };
  }

  /** Begins to work if there is a task and a connection, and the work before has ended. */
  #begin(): void {
    if (this.#connected === undefined || this.#task === undefined) return;
    if (this.#work !== undefined || this.#ending !== undefined) return;
    const { shared, signal } = this.#connected;
    const { cluster, clock, logger, hub } = shared;
    const { name } = this;
    const onChange = () => {
      this.#perform();
      this.#listener.awaited();
    };
    const claim = new LeaseClaim({
      cluster,
      clock,
      logger,
      definition: name,
      hub: hub.uid,
      onChange,
    });
    const running = new RunningDefinition(
      {
        ...shared,
        name,
        listener: this.#listener,
        gate: this.#gate,
      },
      signal,
    );
    this.#work = { running, claim };
    claim.start();
    this.#perform();
  }

  /** Resolves when all work has ended. */
  #end(): Promise<void> {
    const work = this.#work;
    if (work === undefined) return this.#ending ?? Promise.resolve();
    this.#entry = this.#statusEntry();
    this.#work = undefined;
    work.claim.stop();
    this.#ending = work.running.stop().finally(() => {
      this.#ending = undefined;
      // It may have a task again.
      this.#begin();
    });
    return this.#ending;
  }

  #perform(): void {
    const { running, claim } = this.#work ?? {};
    if (running === undefined || claim === undefined) return;
    if (this.#task === undefined || !this.#isRecorded || claim.state.kind !== 'held') {
      const message = 'Waiting for its Lease in the cluster';
      if (running.task.kind !== 'wait') running.want({ kind: 'wait', message });
      return;
    }
    running.want(this.#withRecord(this.#task));
  }

  /** The task with what is recorded about this member. */
  #withRecord(task: DefinitionTask): DefinitionTask {
    if (task.kind !== 'run') return task;
    const { previous = [], ...desired } = task.desired;
    const own = new Set(this.revisions);
    return {
      kind: 'run',
      desired: {
        ...desired,
        previous: previous.filter(({ definition }) => own.has(definition.revision)),
      },
    };
  }
}

/**
 * The task of a definition in a member. `isKnown`: the definition was there before. Undefined: nothing to do there.
 * Pure.
 */
export function memberTaskOf(
  task: DefinitionTask,
  {
    labels,
    isPaused,
    isKnown,
  }: {
    readonly labels: Readonly<Record<string, string>>;
    readonly isPaused: boolean;
    readonly isKnown: boolean;
  },
): DefinitionTask | undefined {
  const isSelected = selectsMember(selectorOf(task), labels);
  const pause = isPaused ? { isPaused } : {};
  if (task.kind === 'run' && isSelected) return { ...task, desired: { ...task.desired, ...pause } };
  if (!isKnown) return undefined;
  switch (task.kind) {
    case 'wait':
      return task;
    case 'run': {
      const message = 'The cluster is not selected any more';
      return { kind: 'finalize', reason: 'Withdrawn', message, ...pause };
    }
    case 'finalize': {
      const { uninstall, ...rest } = task;
      return { ...rest, ...(isSelected && uninstall && { uninstall }), ...pause };
    }
  }
}

/** The members that a task selects. Undefined: none. */
export function selectorOf(task: DefinitionTask): ClusterSelector | undefined {
  if (task.kind === 'run') return task.desired.located.definition.controller.clusters?.selector;
  return task.kind === 'finalize'
    ? task.uninstall?.located.definition.controller.clusters?.selector
    : undefined;
}
