import { type ClusterSelector, selectsMember } from '#definition';
import type { ClusterFailure, DefinitionView } from '../definition-view.ts';
import { fieldsOfParts } from '../view-parts.ts';
import type { Member } from './member.ts';
import type { MembersView } from './member-places.ts';

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
    // One that is not selected has something to finish there.
    isSettled: all.every(
      (member) =>
        settled.has(member.name) ||
        (!selected.includes(member) && member.connection.kind !== 'connecting'),
    ),
    remaining: all.filter(({ definitions }) => definitions.has(name)).map((each) => each.name),
    sums: {
      instances: sum((view) => view.instances),
      readyInstances: sum((view) => view.readyInstances ?? 0),
      orphaned: sum((view) => view.orphaned),
      queued: sum((view) => view.queued),
      ...fieldsOfParts<Partial<DefinitionView>>((part) => part.combined?.(views)),
      ...(views.some(({ isCounting }) => isCounting) && { isCounting: true as const }),
    },
    revisions: [...new Set(entries.flatMap(({ revisions }) => revisions))],
  };
}

function failureOf(name: string, { name: cluster, definitions, usable }: Member) {
  const failure = usable && definitions.get(name)?.failure;
  return failure === undefined ? [] : [{ cluster, ...failure } satisfies ClusterFailure];
}
