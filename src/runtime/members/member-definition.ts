import { type ClusterSelector, selectsMember } from '../../definition/index.ts';
import { foreignText } from '../../util/foreign-text.ts';
import type { JsonObject } from '../../util/json.ts';
import { type ClusterFailure, type DefinitionView, isStarting } from '../definition-view.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import { DefinitionTaskRunner } from '../definitions/definition-task-runner.ts';
import { PersistedStateTracker } from '../definitions/persisted-state.ts';
import { kindsStatus, rolloutIn } from '../definitions/record.ts';
import type { SharedOptions } from '../runner-options.ts';
import { persistedIn, type RecordedDefinition } from './cluster-record.ts';
import { LeaseClaim } from './lease-claim.ts';

interface MemberDefinitionOptions {
  /** From the status of the `Cluster`. @default undefined: it is new there */
  readonly recorded?: RecordedDefinition;
  readonly name: string;
  /** The status of the `Cluster` must be written. */
  readonly onChange: () => void;
}

type MemberOptions = SharedOptions & Required<Pick<SharedOptions, 'hub'>>;

/** One definition in one member: what is recorded about it, and its tasks while the member is connected. */
export class MemberDefinition {
  readonly name: string;
  readonly #persisted: PersistedStateTracker;
  readonly #onChange: () => void;
  /** Whether the status of the `Cluster` lists it. */
  #isRecorded: boolean;
  /** Its entry in the status before it was connected. */
  #entry: JsonObject;
  #task: DefinitionTask | undefined;
  #work: { readonly runner: DefinitionTaskRunner; readonly claim: LeaseClaim } | undefined;

  constructor({ name, recorded, onChange }: MemberDefinitionOptions) {
    this.name = name;
    this.#onChange = onChange;
    this.#isRecorded = recorded !== undefined;
    this.#entry = recorded ?? { name, state: 'Starting', resources: 0, ready: 0 };
    const entry = this.#entry;
    this.#persisted = new PersistedStateTracker(persistedIn(entry), onChange, rolloutIn(entry));
  }

  /** Whether it has nothing left to do there and its Lease can be deleted. */
  get isDone(): boolean {
    if (this.#task?.kind !== 'finalize' || this.#work === undefined) return false;
    const { runner, claim } = this.#work;
    // What is there belongs to another hub now.
    if (claim.state.kind === 'taken') return true;
    const hasNothing = this.#persisted.state.kinds.resources.length === 0;
    return runner.isDone || (claim.state.kind === 'failed' && hasNothing);
  }

  /** Whether work waits until the status of the `Cluster` is written. */
  get isAwaited(): boolean {
    return !this.#isRecorded || this.#persisted.isAwaited;
  }

  get isStarting(): boolean {
    const { view } = this;
    return view !== undefined && isStarting(view);
  }

  get revisions(): readonly string[] {
    return this.#persisted.state.revisions.map(({ revision }) => revision);
  }

  /** Undefined while the member is not connected. */
  get view(): DefinitionView | undefined {
    const { runner, claim } = this.#work ?? {};
    if (runner === undefined || claim === undefined) return undefined;
    if (claim.state.kind === 'taken' || claim.state.kind === 'failed') {
      return { ...runner.view, state: { ...claim.state, kind: 'failing' } };
    }
    const { rollout } = runner.view.rollout === undefined ? this.#persisted : runner.view;
    return { ...runner.view, ...(rollout && { rollout }) };
  }

  /** Why it does not run. Undefined: it runs, or is starting. */
  get failure(): Omit<ClusterFailure, 'cluster'> | undefined {
    if (this.#work?.claim.state.kind === 'taken')
      return { reason: 'Conflict', message: this.#work.claim.state.message };
    const failure = this.view && failureIn(this.view);
    // It quotes objects of the member.
    return failure && { ...failure, message: foreignText(failure.message, maxMessage) };
  }

  /** Starts working in a connected member. */
  start(shared: MemberOptions, signal: AbortSignal): void {
    const { cluster, clock, logger, hub } = shared;
    const { name } = this;
    const onChange = () => {
      this.#perform();
      this.#onChange();
    };
    const claim = new LeaseClaim({
      cluster,
      clock,
      logger,
      definition: name,
      hub: hub.uid,
      onChange,
    });
    const runner = new DefinitionTaskRunner(
      {
        ...shared,
        name,
        kinds: () => this.#persisted.state.kinds,
        record: (located, ending) => this.#persisted.record(located, ending),
        onDone: this.#onChange,
        onKindsGone: (gone) => this.#persisted.dropKinds(gone),
      },
      signal,
    );
    this.#work = { runner, claim };
    claim.start();
    this.#perform();
  }

  /** Ends all work; resolves when it has ended. What is recorded stays. */
  async stop(): Promise<void> {
    const work = this.#work;
    if (work === undefined) return;
    this.#entry = this.#statusEntry();
    this.#work = undefined;
    work.claim.stop();
    await work.runner.stop();
  }

  /** Gives the member up for this definition. @throws KubeError */
  async release(signal: AbortSignal): Promise<void> {
    const work = this.#work;
    await work?.claim.release(signal);
    await this.stop();
  }

  /** Changes its task. Nothing happens in the member before the status of the `Cluster` lists it. */
  setTask(task: DefinitionTask): void {
    this.#task = task;
    this.#perform();
    // Where another hub serves it there is no work whose end would be noticed.
    if (this.isDone) this.#onChange();
  }

  /** Its entry in the status of the `Cluster`. `onWritten`: call when the status contains it. */
  report(): { readonly entry: JsonObject; readonly onWritten: () => void } {
    const entry = this.#statusEntry();
    const { state } = this.#persisted;
    const onWritten = () => {
      this.#isRecorded = true;
      this.#persisted.onWritten(state);
      this.#perform();
    };
    return { entry, onWritten };
  }

  /** Call when the labels of the member have changed: expressions may use them. */
  runAll(): void {
    this.#work?.runner.runAll();
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    this.#work?.runner.observe();
  }

  #statusEntry(): JsonObject {
    if (this.#work !== undefined) this.#persisted.prune(this.#work.runner.view);
    const { view, failure } = this;
    const [revision, ...older] = this.revisions;
    const { revision: _, older: __, kinds: ___, ...last } = this.#entry;
    const shown = view === undefined ? last : entryOf(this.name, view, failure);
    const { kinds } = this.#persisted.state;
    const hasKinds = kinds.resources.length + kinds.children.length > 0;
    return {
      ...shown,
      ...(revision !== undefined && { revision }),
      ...(older.length > 0 && { older }),
      ...(hasKinds && { kinds: kindsStatus(kinds) }),
    };
  }

  #perform(): void {
    const { runner, claim } = this.#work ?? {};
    if (runner === undefined || claim === undefined) return;
    if (this.#task === undefined || !this.#isRecorded || claim.state.kind !== 'held') {
      const message = 'Waiting for its Lease in the cluster';
      if (runner.task.kind !== 'wait') runner.setTask({ kind: 'wait', message });
      return;
    }
    runner.setTask(this.#withRecord(this.#task));
  }

  /** The task with what is recorded about this member. */
  #withRecord(task: DefinitionTask): DefinitionTask {
    if (task.kind !== 'run') return task;
    const { rollout: _, previous = [], ...desired } = task.desired;
    const rollout = rolloutIn(this.#statusEntry());
    const own = new Set(this.revisions);
    return {
      kind: 'run',
      desired: {
        ...desired,
        previous: previous.filter(({ definition }) => own.has(definition.revision)),
        ...(rollout && { rollout }),
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

function failureIn(view: DefinitionView): Omit<ClusterFailure, 'cluster'> | undefined {
  const { state, rejection, problems, rollout } = view;
  const { message, diagnostics } = state.kind === 'rejected' ? state : (rejection ?? {});
  if (message !== undefined)
    return { reason: 'Rejected', message: [message, ...(diagnostics ?? [])].join('\n') };
  if (state.kind === 'failing')
    return { reason: state.isForbidden === true ? 'Forbidden' : 'Failing', message: state.message };
  if (state.kind === 'waiting') return { reason: 'KindMissing', message: state.message };
  if (rollout?.state === 'held') return { reason: 'DeletionsHeld', message: rollout.message };
  if (rollout?.state === 'stopped') return { reason: 'RolloutStopped', message: rollout.message };
  return problems.length > 0 ? { reason: 'WatchFailing', message: problems.join('\n') } : undefined;
}

const states: Readonly<Partial<Record<DefinitionView['state']['kind'], string>>> = {
  running: 'Running',
  finalizing: 'Finalizing',
  uninstalling: 'Uninstalling',
};
/** In a status. */
const maxMessage = 1_024;

function entryOf(
  name: string,
  view: DefinitionView,
  failure: Omit<ClusterFailure, 'cluster'> | undefined,
): JsonObject {
  const { state, instances, readyInstances = 0, rollout } = view;
  const shown = failure === undefined ? (states[state.kind] ?? 'Starting') : 'Failing';
  const recorded = rollout && {
    from: rollout.from,
    to: rollout.to,
    state: rollout.state,
    failed: rollout.failed,
  };
  return {
    name,
    state: shown,
    resources: instances,
    ready: readyInstances,
    ...(failure && { reason: failure.reason, message: failure.message }),
    ...(recorded && { rollout: recorded }),
  };
}
