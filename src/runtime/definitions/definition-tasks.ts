import { type LocatedDefinition, runsInMembers } from '../../definition/index.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import type { DefinitionMetrics } from '../definition-metrics.ts';
import type { ClustersSummary, DefinitionView } from '../definition-view.ts';
import type { DefinitionTask, FinalizeTask } from './decide.ts';
import type { DefinitionTaskRunner } from './definition-task-runner.ts';

/** The part of a definition's view that comes from members. */
export interface MembersView {
  readonly clusters: ClustersSummary;
  /** Whether it runs, fails or cannot be reached in every selected member. */
  readonly isSettled: boolean;
  /** The members where it has something to finish, sorted. */
  readonly remaining: readonly string[];
  /** Of all members that are connected. */
  readonly sums: Required<Pick<DefinitionView, 'instances' | 'readyInstances'>> &
    Pick<DefinitionView, 'orphaned' | 'queued' | 'rollout'>;
  /** Recorded revisions of all members, those that cannot be reached included. */
  readonly revisions: readonly string[];
}

/** Runs definitions in member clusters. */
export interface MemberTasks {
  /** Changes the task of a definition in every member that it selects or was in. Returns at once. */
  setTask(name: string, task: DefinitionTask): void;
  /** Undefined: no member has or gets it. */
  viewOf(name: string): MembersView | undefined;
  /** Whether no member has anything of the definition. */
  isDone(name: string): boolean;
  /** Stops the definition in all members; resolves when its tasks have ended. */
  forget(name: string): Promise<void>;
}

interface DefinitionTasksOptions {
  readonly name: string;
  /** Runs its tasks in the cluster of this runtime. */
  readonly hub: DefinitionTaskRunner;
  /** Undefined: the runtime has no members. */
  readonly members: MemberTasks | undefined;
  /** Persists the accepted revision, without kinds. @throws the signal's reason */
  readonly record: (located: LocatedDefinition, signal: AbortSignal) => Promise<void>;
  /** Stops all work. */
  readonly signal: AbortSignal;
}

const inMembers: FinalizeTask = {
  kind: 'finalize',
  reason: 'Withdrawn',
  message: 'It runs in member clusters',
};

/** The tasks of one definition in all clusters: it runs either in the cluster of this runtime or in members. */
export class DefinitionTasks {
  readonly #options: DefinitionTasksOptions;
  #task: DefinitionTask;
  #hasRunInMembers = false;
  /** Aborts when the task changes before its revision is recorded. */
  #recording = new AbortController();

  constructor(options: DefinitionTasksOptions) {
    this.#options = options;
    this.#task = options.hub.task;
  }

  get task(): DefinitionTask {
    return this.#task;
  }

  /** Whether this process has run the definition. */
  get hasRun(): boolean {
    return this.#options.hub.hasRun || this.#hasRunInMembers;
  }

  /** Whether finalizing or uninstalling is complete in every cluster. */
  get isDone(): boolean {
    const { hub, members, name } = this.#options;
    return hub.isDone && members?.isDone(name) !== false;
  }

  get metrics(): DefinitionMetrics {
    return this.#options.hub.metrics;
  }

  get view(): DefinitionView {
    const { hub, members, name } = this.#options;
    const found = members?.viewOf(name);
    if (isRunInMembers(this.#task)) return runningView(name, this.#task.desired.located, found);
    return found === undefined ? hub.view : finishingView(hub.view, found);
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    const { hub, members, name } = this.#options;
    hub.observe();
    const found = members?.viewOf(name);
    if (found === undefined || !isRunInMembers(this.#task)) return;
    const { instances, readyInstances: ready } = found.sums;
    hub.metrics.observe(this.view, { ready, unready: instances - ready, unknown: 0 });
  }

  /** Changes the task. Returns at once. */
  setTask(task: DefinitionTask): void {
    const { hub, members, name, record, signal } = this.#options;
    this.#task = task;
    this.#recording.abort(new Error('The task has changed'));
    if (!isRunInMembers(task)) {
      hub.setTask(hubTaskOf(task));
      members?.setTask(name, task);
      return;
    }
    this.#hasRunInMembers = true;
    hub.setTask(inMembers);
    this.#recording = new AbortController();
    const ending = AbortSignal.any([signal, this.#recording.signal]);
    record(task.desired.located, ending).then(
      () => ending.aborted || members?.setTask(name, task),
      () => {},
    );
  }

  /** Stops for good; resolves when all tasks have ended. */
  async stop(): Promise<void> {
    const { hub, members, name } = this.#options;
    this.#recording.abort(new Error('The definition was removed'));
    await members?.forget(name);
    await hub.stop();
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

const unknownView: MembersView = {
  clusters: { selected: 0, running: 0, unreachable: [], failing: [] },
  ...{ isSettled: false, remaining: [], revisions: [] },
  sums: { instances: 0, readyInstances: 0, orphaned: 0, queued: 0 },
};

function runningView(
  name: string,
  { definition }: LocatedDefinition,
  { clusters, isSettled, sums, revisions }: MembersView = unknownView,
): DefinitionView {
  const { revision, kind } = definition;
  return {
    name,
    revision,
    apiVersion: apiVersionOf(kind.gvk),
    kind: kind.gvk.kind,
    state: { kind: 'running' },
    problems: [],
    ...{ clusters, ...sums },
    ...(isSettled ? {} : { isSettling: true }),
    activeRevisions: [revision, ...revisions.filter((each) => each !== revision)],
  };
}

/** The hub's part of a task that ends, and what members still have to finish. */
function finishingView(view: DefinitionView, found: MembersView): DefinitionView {
  const { state } = view;
  const { clusters } = found;
  const instances = view.instances + found.sums.instances;
  if (state.kind !== 'finalizing' && state.kind !== 'uninstalling')
    return { ...view, instances, clusters };
  const waits = found.remaining.length === 0 ? '' : `Waiting for ${clustersText(found)}`;
  const message = [state.message, waits].filter((text) => text !== '').join('. ');
  return {
    ...view,
    instances,
    state: { kind: state.kind, message },
    ...(clusters.unreachable.length > 0 && { clusters }),
  };
}

/** At most this many names in a message. */
const maxNames = 5;

function clustersText({ remaining, clusters: { unreachable } }: MembersView): string {
  const shown = remaining
    .slice(0, maxNames)
    .map((name) => (unreachable.includes(name) ? `"${name}" (unreachable)` : `"${name}"`));
  const more = remaining.length > maxNames ? ` and ${remaining.length - maxNames} more` : '';
  return `${remaining.length === 1 ? 'cluster' : 'clusters'} ${shown.join(', ')}${more}`;
}
