import type { LocatedDefinition } from '../../definition/index.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import type { ClustersSummary, DefinitionView } from '../definition-view.ts';
import type { DefinitionTask } from './decide.ts';

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

const unknownView: MembersView = {
  clusters: { selected: 0, running: 0, unreachable: [], failing: [] },
  isSettled: false,
  remaining: [],
  revisions: [],
  sums: { instances: 0, readyInstances: 0, orphaned: 0, queued: 0 },
};

/** View of a definition that runs in members. Pure. */
export function viewInMembers(
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
    clusters,
    ...sums,
    ...(isSettled ? {} : { isSettling: true }),
    activeRevisions: [revision, ...revisions.filter((each) => each !== revision)],
  };
}

/** Adds what members still have to finish to the view of the hub. Pure. */
export function withMembers(view: DefinitionView, found: MembersView): DefinitionView {
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
