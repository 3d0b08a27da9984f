import type { LocatedDefinition } from '../../definition/index.ts';
import type { Readiness } from '../../reconcile/index.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import type { DefinitionMetrics } from '../definition-metrics.ts';
import type { ClustersSummary, DefinitionView } from '../definition-view.ts';
import { type DefinitionTask, deletedTask, type FinalizeTask } from './decide.ts';
import type { DefinitionTaskRunner } from './definition-task-runner.ts';

/** The part of a definition's view that comes from members. */
export interface MembersView {
  readonly summary: ClustersSummary;
  /** Whether it runs, fails or cannot be reached in every selected member. */
  readonly isSettled: boolean;
  /** The members where it has something to finish, sorted. */
  readonly remaining: readonly string[];
  readonly instances: number;
  readonly readiness: Readiness;
  readonly orphaned: number;
  readonly queued: number;
  readonly problems: readonly string[];
  /** Recorded revisions of all members, those that cannot be reached included. */
  readonly revisions: readonly string[];
  readonly rollout?: DefinitionView['rollout'];
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

/** For a runtime without members. */
export const noMembers: MemberTasks = {
  setTask: () => {},
  viewOf: () => undefined,
  isDone: () => true,
  forget: () => Promise.resolve(),
};

interface DefinitionTasksOptions {
  readonly name: string;
  /** Runs its tasks in the cluster of this runtime. */
  readonly hub: DefinitionTaskRunner;
  readonly members: MemberTasks;
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
    return hub.isDone && members.isDone(name);
  }

  get metrics(): DefinitionMetrics {
    return this.#options.hub.metrics;
  }

  get view(): DefinitionView {
    const { hub, members, name } = this.#options;
    const found = members.viewOf(name);
    if (runsInMembers(this.#task)) return runningView(name, this.#task.desired.located, found);
    return found === undefined ? hub.view : finishingView(hub.view, found);
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    const { hub, members, name } = this.#options;
    hub.observe();
    const found = members.viewOf(name);
    if (found !== undefined && runsInMembers(this.#task))
      hub.metrics.observe(this.view, found.readiness);
  }

  /** Changes the task. Returns at once. */
  setTask(task: DefinitionTask): void {
    const { hub, members, name, record, signal } = this.#options;
    this.#task = task;
    this.#recording.abort(new Error('The task has changed'));
    if (!runsInMembers(task)) {
      // What it created in the cluster of this runtime before belongs to no uninstall of members.
      hub.setTask(isOfMembers(task) ? deletedTask : task);
      members.setTask(name, task);
      return;
    }
    this.#hasRunInMembers = true;
    hub.setTask(inMembers);
    this.#recording = new AbortController();
    const ending = AbortSignal.any([signal, this.#recording.signal]);
    record(task.desired.located, ending).then(
      () => ending.aborted || members.setTask(name, task),
      () => {},
    );
  }

  /** Stops for good; resolves when all tasks have ended. */
  async stop(): Promise<void> {
    const { hub, members, name } = this.#options;
    this.#recording.abort(new Error('The definition was removed'));
    await members.forget(name);
    await hub.stop();
  }
}

function runsInMembers(task: DefinitionTask): task is Extract<DefinitionTask, { kind: 'run' }> {
  return task.kind === 'run' && task.desired.located.definition.controller.clusters !== undefined;
}

function isOfMembers(task: DefinitionTask): boolean {
  return task.kind === 'uninstall' && task.located.definition.controller.clusters !== undefined;
}

const noReadiness: Readiness = { ready: 0, unready: 0, unknown: 0 };

function runningView(
  name: string,
  { definition }: LocatedDefinition,
  found: MembersView | undefined,
): DefinitionView {
  const { revision, kind } = definition;
  const { summary, instances = 0, orphaned = 0, queued = 0, problems = [], rollout } = found ?? {};
  const { readiness = noReadiness, revisions = [] } = found ?? {};
  return {
    name,
    revision,
    apiVersion: apiVersionOf(kind.gvk),
    kind: kind.gvk.kind,
    state: { kind: 'running' },
    ...{ instances, orphaned, queued, problems },
    readyInstances: readiness.ready,
    clusters: summary ?? { selected: 0, running: 0, unreachable: [], failing: [] },
    ...(found?.isSettled !== true && { isSettling: true }),
    activeRevisions: [revision, ...revisions.filter((each) => each !== revision)],
    ...(rollout && { rollout }),
  };
}

/** The hub's part of a task that ends, and what members still have to finish. */
function finishingView(view: DefinitionView, found: MembersView): DefinitionView {
  const { state } = view;
  const instances = view.instances + found.instances;
  if (state.kind !== 'finalizing' && state.kind !== 'uninstalling')
    return { ...view, instances, clusters: found.summary };
  const { unreachable } = found.summary;
  const waits = found.remaining.length === 0 ? '' : `Waiting for ${clustersText(found)}`;
  const message = [state.message, waits].filter((text) => text !== '').join('. ');
  return {
    ...view,
    instances,
    state: { kind: state.kind, message },
    ...(unreachable.length > 0 && { clusters: found.summary }),
  };
}

/** At most this many names in a message. */
const maxNames = 5;

function clustersText({ remaining, summary: { unreachable } }: MembersView): string {
  const shown = remaining
    .slice(0, maxNames)
    .map((name) => (unreachable.includes(name) ? `"${name}" (unreachable)` : `"${name}"`));
  const more = remaining.length > maxNames ? ` and ${remaining.length - maxNames} more` : '';
  return `${remaining.length === 1 ? 'cluster' : 'clusters'} ${shown.join(', ')}${more}`;
}
