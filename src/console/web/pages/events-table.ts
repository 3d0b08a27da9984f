import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { messageText, textOf } from '../model/object-summary.ts';
import { dataTable } from '../parts/data-table.ts';
import { emptyBox, listProblem, staleNote, stateText } from '../parts/elements.ts';
import { age } from '../parts/moment.ts';
import { h, type VNode } from '../preact.ts';
import type { View } from '../view.ts';
import { eventsNeed } from './kinds.ts';

/** An Event of any API. */
export interface EventRow {
  readonly uid: string;
  readonly time: string;
  readonly isWarning: boolean;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/** The Events about an object, newest first. */
export function eventRows(store: View['store'], object: KubeObject): readonly EventRow[] {
  return store
    .list(eventsNeed(object))
    .objects.map(eventRow)
    .sort((a, b) => (a.time < b.time ? 1 : -1));
}

function eventRow(event: KubeObject): EventRow {
  const series = isJsonObject(event.series) ? event.series : {};
  const count = typeof event.count === 'number' ? event.count : Number(series.count ?? 1);
  return {
    uid: event.metadata.uid ?? '',
    time:
      textOf(series.lastObservedTime) ||
      textOf(event.lastTimestamp) ||
      textOf(event.eventTime) ||
      (event.metadata.creationTimestamp ?? ''),
    isWarning: event.type === 'Warning',
    reason: textOf(event.reason),
    message: messageText(event.message) || messageText(event.note),
    count,
  };
}

export function eventsTable({ store, nowMs }: View, object: KubeObject): VNode {
  const list = store.list(eventsNeed(object));
  const problem = listProblem(list, { what: 'Events', right: 'list and watch events' });
  if (problem !== undefined) return problem;
  const rows = eventRows(store, object);
  if (rows.length === 0)
    return emptyBox('No Events', 'The API server keeps Events for about an hour.');
  return h(
    'div',
    null,
    staleNote(list, 'The list of Events'),
    dataTable<EventRow>({
      label: 'Events',
      rows,
      keyOf: ({ uid }) => uid,
      columns: [
        { title: 'Age', className: 'number', cell: ({ time }) => age(time, nowMs) },
        {
          title: 'Reason',
          className: 'narrow',
          cell: ({ isWarning, reason }) => stateText(isWarning ? 'failing' : 'unknown', reason),
        },
        {
          title: 'Message',
          className: 'wide',
          cell: ({ message, count }) => (count > 1 ? `${message} (${count} times)` : message),
        },
      ],
    }),
  );
}
