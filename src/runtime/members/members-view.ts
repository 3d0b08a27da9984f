import { type ClusterSelector, selectsMember } from '../../definition/index.ts';
import type { ClusterFailure, DefinitionView } from '../definition-view.ts';
import type { MembersView } from '../definitions/member-tasks.ts';
import type { Member } from './member.ts';

/** At most this many failures are listed. */
const maxFailures = 20;

/** Sums up a definition over members that select it or have something of it. Pure. */
export function membersViewOf(
  name: string,
  members: readonly Member[],
  selector: ClusterSelector | undefined,
): MembersView {
  const all = members.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const selected = all.filter(({ record }) => selectsMember(selector, record.labels));
  const isUnreachable = ({ connection }: Member) => connection.kind === 'failed';
  const failing = selected.flatMap((member) => failureOf(name, member));
  const entries = all.flatMap(({ definitions }) => definitions.get(name) ?? []);
  const views = entries.flatMap(({ view }) => view ?? []);
  const running = selected.filter(
    (member) =>
      !isUnreachable(member) && member.definitions.get(name)?.view?.state.kind === 'running',
  );
  const sum = (countOf: (view: DefinitionView) => number) =>
    views.reduce((total, view) => total + countOf(view), 0);
  const rollout = combinedRollout(views);
  const unreachable = selected.filter(isUnreachable);
  // It may run in a member where a newer revision fails.
  const settled = new Set([...running, ...unreachable].map((member) => member.name));
  for (const { cluster } of failing) settled.add(cluster);
  return {
    clusters: {
      selected: selected.length,
      running: running.length,
      unreachable: (selector === undefined ? all.filter(isUnreachable) : unreachable).map(
        (member) => member.name,
      ),
      failing: failing.slice(0, maxFailures),
    },
    isSettled: selected.every((member) => settled.has(member.name)),
    remaining: all.filter(({ definitions }) => definitions.has(name)).map((each) => each.name),
    sums: {
      instances: sum((view) => view.instances),
      readyInstances: sum((view) => view.readyInstances ?? 0),
      orphaned: sum((view) => view.orphaned),
      queued: sum((view) => view.queued),
      ...(rollout && { rollout }),
    },
    revisions: [...new Set(entries.flatMap(({ revisions }) => revisions))],
  };
}

function failureOf(name: string, { name: cluster, definitions, usable }: Member) {
  const failure = usable && definitions.get(name)?.failure;
  return failure === undefined ? [] : [{ cluster, ...failure } satisfies ClusterFailure];
}

const severity = { stopped: 3, held: 2, rolling: 1, previewing: 0 } as const;

/** The roll-out that needs attention most, with the numbers of all. */
function combinedRollout(views: readonly DefinitionView[]): DefinitionView['rollout'] {
  const all = views.flatMap(({ rollout }) => rollout ?? []);
  const [worst] = all.toSorted((a, b) => severity[b.state] - severity[a.state]);
  if (worst === undefined) return undefined;
  const sum = (key: 'reached' | 'total' | 'deletions') =>
    all.reduce((total, each) => total + each[key], 0);
  const counts = { reached: sum('reached'), total: sum('total'), deletions: sum('deletions') };
  const dataObjects = all.flatMap((each) => each.dataObjects ?? []).slice(0, 20);
  return { ...worst, ...counts, ...(dataObjects.length > 0 && { dataObjects }) };
}
