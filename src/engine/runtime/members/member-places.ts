import { type LocatedDefinition, runsInMembers } from '#definition';
import { apiVersionOf } from '#util/gvk.ts';
import type { ClustersSummary, DefinitionCounts, DefinitionView } from '../definition-view.ts';
import type { DefinitionTask, FinalizeTask } from '../definitions/decide.ts';
import {
  type ShownDefinition,
  type TaskPlaces,
  withRecordError,
} from '../definitions/task-places.ts';
import type { RunningDefinition } from '../running/running-definition.ts';
import type { RunTask } from '../running/same-task.ts';

/** The part of a definition's view that comes from members. */
export interface MembersView {
  readonly clusters: ClustersSummary;
  /** Whether it runs, fails or cannot be reached in every selected member. */
  readonly isSettled: boolean;
  /** The members where it has something to finish, sorted. */
  readonly remaining: readonly string[];
  /** Of all members that are connected. */
  readonly sums: DefinitionCounts & Required<Pick<DefinitionCounts, 'readyInstances'>>;
  /** Recorded revisions of all members, those that cannot be reached included. Undefined: not all members are known yet. */
  readonly revisions: readonly string[] | undefined;
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

const unknownView: MembersView = {
  clusters: { selected: 0, running: 0, unreachable: [], failing: [] },
  isSettled: false,
  remaining: [],
  revisions: undefined,
  sums: { instances: 0, readyInstances: 0, orphaned: 0, queued: 0 },
};

/** View of a definition that runs in members. Pure. */
function viewInMembers(
  { name, state }: Pick<RunningDefinition, 'name' | 'state'>,
  { definition }: LocatedDefinition,
  { clusters, isSettled, sums, revisions }: MembersView = unknownView,
): DefinitionView {
  const { revision, kind } = definition;
  // A member that is not known yet may have any of them.
  const others = revisions ?? state.revisions.map((each) => each.revision);
  return {
    name,
    revision,
    apiVersion: apiVersionOf(kind.gvk),
    kind: kind.gvk.kind,
    state: { kind: 'running' },
    problems: [],
    clusters,
    ...sums,
    ...(isSettled ? {} : { isSettling: true }),
    activeRevisions: [revision, ...others.filter((each) => each !== revision)],
  };
}

/** Adds what members still have to finish to the view of the hub. Pure. */
function withMembers(view: DefinitionView, found: MembersView): DefinitionView {
  const { state } = view;
  const { clusters, sums } = found;
  const counts = {
    instances: view.instances + sums.instances,
    ...(sums.isCounting && { isCounting: true as const }),
  };
  if (state.kind !== 'finalizing' && state.kind !== 'uninstalling')
    return { ...view, ...counts, clusters };
  const waits = found.remaining.length === 0 ? '' : `Waiting for ${clustersText(found)}`;
  const message = [state.message, waits].filter((text) => text !== '').join('. ');
  return {
    ...view,
    ...counts,
    ...(found.isSettled ? {} : { isSettling: true as const }),
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

/** Whether the task runs a definition in members. Pure. */
function isRunInMembers(task: DefinitionTask): task is RunTask {
  return task.kind === 'run' && runsInMembers(task.desired.located.definition);
}

const inMembers: FinalizeTask = {
  kind: 'finalize',
  reason: 'Withdrawn',
  message: 'It runs in member clusters',
};

/** What it created in the cluster of this runtime before belongs to no uninstall of members. */
function hubTaskOf(task: DefinitionTask): DefinitionTask {
  if (task.kind !== 'finalize' || task.uninstall === undefined) return task;
  const { uninstall, ...rest } = task;
  return runsInMembers(uninstall.located.definition) ? rest : task;
}

/** The hub and its members as the places of tasks. */
export class MemberPlaces implements TaskPlaces {
  readonly #members: MemberTasks;

  constructor(members: MemberTasks) {
    this.#members = members;
  }

  setTask(running: RunningDefinition, task: DefinitionTask): void {
    if (isRunInMembers(task)) {
      running.want(inMembers);
      running.acceptElsewhere(task.desired.located);
      return;
    }
    running.want(hubTaskOf(task));
    this.#members.setTask(running.name, task);
  }

  recorded(running: RunningDefinition, task: DefinitionTask): void {
    if (isRunInMembers(task) && running.isRecorded) this.#members.setTask(running.name, task);
  }

  viewOf(running: ShownDefinition, task: DefinitionTask): DefinitionView {
    const { name, view, recordError } = running;
    const found = this.#members.viewOf(name);
    const shownInMembers = isRunInMembers(task)
      ? viewInMembers(running, task.desired.located, found)
      : found && withMembers(view, found);
    // Members that are not known yet may have something to finish.
    const isSettling = task.kind === 'finalize' && !found && !this.#members.isDone(name);
    const shown = shownInMembers ?? (isSettling ? { ...view, isSettling } : view);
    return withRecordError(shown, recordError);
  }

  observe(running: RunningDefinition, task: DefinitionTask): void {
    running.observe();
    const sums = this.#members.viewOf(running.name)?.sums;
    if (sums === undefined || !isRunInMembers(task)) return;
    const { instances, readyInstances: ready } = sums;
    const readiness = { ready, unready: instances - ready, unknown: 0 };
    running.metrics.observe(this.viewOf(running, task), readiness);
  }

  isDone(name: string): boolean {
    return this.#members.isDone(name);
  }

  forget(name: string): Promise<void> {
    return this.#members.forget(name);
  }
}
