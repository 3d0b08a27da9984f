import { conditionsOf, type KubeObject } from '../../util/kube-object.ts';
import type { ReconciledChild, ReconcileRecord } from '../contract.ts';
import { ageText, clockText } from '../model/format.ts';
import { placeOf, textOf } from '../model/object-summary.ts';
import { dataTable } from '../parts/data-table.ts';
import { emptyBox, link, section, stateText } from '../parts/elements.ts';
import type { VNode } from '../preact.ts';
import { hrefOf } from '../route.ts';
import type { ResourcePageView } from '../view.ts';
import { eventRows } from './events-table.ts';

/** The reconciles of a resource, newest first; without records, its Events and the changes of its conditions. */
export function timeline(view: ResourcePageView, resource: KubeObject): VNode {
  return view.info.hasRecords ? recordTimeline(view) : eventTimeline(view, resource);
}

function recordTimeline({ store, route }: ResourcePageView): VNode {
  const records = store.records(route.resource);
  if (records.length === 0)
    return section(
      'Reconciles',
      emptyBox(
        'No reconcile since this page was opened',
        'Reconciles are recorded while someone looks.',
      ),
    );
  return section(
    'Reconciles',
    dataTable<ReconcileRecord>({
      label: 'Reconciles',
      rows: records,
      keyOf: ({ number, time }) => `${time} ${number}`,
      isChanged: ({ number }) => number === route.reconcile,
      columns: [
        {
          title: 'Time',
          className: 'number',
          cell: ({ time, number }) =>
            link(hrefOf({ ...route, reconcile: number }), clockText(time)),
        },
        { title: 'Caused by', className: 'wide', cell: ({ trigger }) => trigger },
        { title: 'Result', className: 'wide', cell: resultText },
        { title: 'Status', className: 'optional', cell: ({ status }) => status },
        {
          title: 'Took',
          className: 'number optional',
          cell: ({ durationMs }) => `${durationMs} ms`,
        },
      ],
    }),
  );
}

/** `Deployment applied, 3 unchanged`. */
function resultText({ children }: ReconcileRecord): string {
  const unchanged = children.filter(({ verdict }) => verdict === 'unchanged').length;
  const others = children.filter(({ verdict }) => verdict !== 'unchanged' && verdict !== 'omitted');
  const parts = others.slice(0, 3).map(childText);
  if (others.length > 3) parts.push(`${others.length - 3} more`);
  if (unchanged > 0) parts.push(`${unchanged} unchanged`);
  return parts.length === 0 ? 'nothing to do' : parts.join(', ');
}

function childText({ kind, verdict, message }: ReconciledChild): string {
  const why =
    verdict === 'waiting' || verdict === 'failed' || verdict === 'conflict' ? `: ${message}` : '';
  return `${kind} ${verdict}${why}`;
}

interface Moment {
  readonly key: string;
  readonly time: string;
  readonly isBad: boolean;
  readonly what: string;
  readonly message: string;
}

function eventTimeline(view: ResourcePageView, resource: KubeObject): VNode {
  const moments = [...conditionMoments(resource), ...eventMoments(view, resource)].sort((a, b) =>
    a.time < b.time ? 1 : -1,
  );
  if (moments.length === 0)
    return section(
      'Timeline',
      emptyBox('No Events and no conditions yet', placeOf(resource.metadata)),
    );
  return section(
    'Timeline',
    dataTable<Moment>({
      label: 'Timeline',
      rows: moments,
      keyOf: ({ key }) => key,
      columns: [
        { title: 'Time', className: 'number', cell: ({ time }) => clockText(time) },
        {
          title: 'Age',
          className: 'number optional',
          cell: ({ time }) => ageText(time, view.nowMs),
        },
        {
          title: 'What',
          className: 'narrow',
          cell: ({ isBad, what }) => stateText(isBad ? 'failing' : 'ready', what),
        },
        { title: 'Message', className: 'wide', cell: ({ message }) => message },
      ],
    }),
  );
}

function conditionMoments(resource: KubeObject): readonly Moment[] {
  return conditionsOf(resource).map(({ type, status, reason, message, lastTransitionTime }) => ({
    key: `condition ${textOf(type)}`,
    time: textOf(lastTransitionTime),
    isBad: status !== 'True' && (type === 'Ready' || type === 'Available'),
    what: `${textOf(type)} is ${textOf(status)}`,
    message: [textOf(reason), textOf(message)].filter((text) => text !== '').join(': '),
  }));
}

function eventMoments({ store }: ResourcePageView, resource: KubeObject): readonly Moment[] {
  return eventRows(store, resource).map(({ uid, time, isWarning, reason, message }) => ({
    key: uid,
    ...{ time, isBad: isWarning, what: reason, message },
  }));
}
