import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import type { ReconciledChild, ReconcileRecord, RequestView, ResourceRef } from '../contract.ts';
import { clockText, durationText } from '../model/format.ts';
import { nodeId } from '../model/live-tree.ts';
import { type Health, messageText, placeOf, textOf } from '../model/object-summary.ts';
import { dataTable } from '../parts/data-table.ts';
import { code, emptyBox, glyph, link, muted, section, stateText } from '../parts/elements.ts';
import { age, clock } from '../parts/moment.ts';
import { type Content, h, type VNode } from '../preact.ts';
import { hrefOf } from '../route.ts';
import type { ResourcePageView } from '../view.ts';
import { eventRows } from './events-table.ts';

/** The reconciles of a resource, newest first; without records, its Events and the changes of its conditions. */
export function timeline(view: ResourcePageView, resource: KubeObject): Content {
  return view.info.hasRecords ? recordTimeline(view) : eventTimeline(view, resource);
}

function recordTimeline(view: ResourcePageView): Content {
  const { store, route } = view;
  const { records, problem } = store.records(route.resource);
  const selected = records.find(({ number }) => number === route.reconcile);
  return [
    section(
      'Reconciles',
      problem === ''
        ? null
        : h(
            'p',
            { class: 'stale-note', role: 'status', key: 'problem' },
            glyph('unknown'),
            ` The reconciles may be out of date: ${problem}`,
          ),
      records.length === 0
        ? emptyBox(
            'No reconcile is recorded',
            'The runtime keeps the last 200 of each resource in memory, since it started.',
          )
        : recordTable(view, records),
    ),
    selected === undefined ? null : recordDetail(view, selected),
  ];
}

type Route = ResourcePageView['route'];

function recordTable(
  { route, nowMs }: ResourcePageView,
  records: readonly ReconcileRecord[],
): VNode {
  const { reconcile: current, ...others } = route;
  return dataTable<ReconcileRecord>({
    label: 'Reconciles',
    rows: records,
    keyOf: ({ number, time }) => `${time} ${number}`,
    isChanged: ({ number }) => number === current,
    columns: [
      {
        title: 'Time',
        className: 'number',
        cell: ({ time, number }) =>
          link(
            hrefOf(number === current ? others : { ...others, reconcile: number }),
            clock(time, nowMs),
          ),
      },
      { title: 'Caused by', className: 'wide', cell: ({ trigger }) => trigger.text },
      { title: 'Result', className: 'wide', cell: resultText },
      { title: 'Status', className: 'optional', cell: ({ status }) => status },
      {
        title: 'Requests',
        className: 'number optional',
        cell: ({ requests }) => String(requests.length),
      },
      {
        title: 'Took',
        className: 'number optional',
        cell: ({ durationMs }) => durationText(durationMs),
      },
    ],
  });
}

/** `Deployment applied, 3 unchanged`. */
function resultText({ children, end, reason }: ReconcileRecord): string {
  const unchanged = children.filter(({ verdict }) => verdict === 'unchanged').length;
  const others = children.filter(({ verdict }) => verdict !== 'unchanged' && verdict !== 'omitted');
  const parts = others.slice(0, 3).map(childText);
  if (others.length > 3) parts.push(`${others.length - 3} more`);
  if (unchanged > 0) parts.push(`${unchanged} unchanged`);
  if (end === 'error') parts.push(`failed: ${reason}`);
  return parts.length === 0 ? 'nothing to do' : parts.join(', ');
}

function childText({ kind, verdict, message }: ReconciledChild): string {
  const why =
    verdict === 'waiting' || verdict === 'failed' || verdict === 'conflict' ? `: ${message}` : '';
  return `${kind} ${verdict}${why}`;
}

/** What one reconcile decided and sent. */
function recordDetail({ route, nowMs }: ResourcePageView, record: ReconcileRecord): VNode {
  const { time, trigger, revision, queuedMs, durationMs, phases, end, reason } = record;
  const steps = phases.map((phase) => `${phase.name} ${durationText(phase.durationMs)}`);
  return section(
    `Reconcile at ${clockText(time, nowMs)}`,
    h(
      'dl',
      { class: 'facts' },
      fact('Caused by', [trigger.text, objectLinks(trigger.objects, route)]),
      fact('Revision', code(revision)),
      fact('Time', [
        durationText(durationMs),
        steps.length === 0 ? null : muted(` (${steps.join(', ')})`),
        queuedMs === 0 ? null : muted(`, after ${durationText(queuedMs)} in the queue`),
      ]),
      end === 'done' ? null : fact('Runs again', `${end}: ${reason}`),
    ),
    record.children.length === 0 ? null : childTable(record.children, route),
    record.requests.length === 0 ? null : requestTable(record.requests),
  );
}

function fact(name: string, value: Content): VNode {
  return h('div', { key: name }, h('dt', null, name), h('dd', null, value));
}

/** Other objects than the resource itself. */
function objectLinks(objects: readonly ResourceRef[], route: Route): Content {
  const own = nodeId(route.resource);
  return objects
    .filter((object) => nodeId(object) !== own)
    .map((object) => [
      ' ',
      link(hrefOf({ ...route, node: nodeId(object) }), `${object.kind} ${placeOf(object)}`),
    ]);
}

const verdictHealth: Readonly<Record<string, Health>> = {
  created: 'ready',
  applied: 'ready',
  unchanged: 'ready',
  pruned: 'ready',
  waiting: 'progressing',
  held: 'progressing',
  conflict: 'failing',
  failed: 'failing',
};

/** As the tree names it. */
function verdictText(verdict: string): string {
  return verdict === 'omitted' ? 'not wanted' : verdict;
}

function childTable(children: readonly ReconciledChild[], route: Route): VNode {
  return dataTable<ReconciledChild>({
    label: 'Children of the reconcile',
    rows: children,
    keyOf: ({ id, kind, cluster = '', namespace, name }) =>
      [id, kind, cluster, namespace, name].join(' '),
    columns: [
      {
        title: 'Child',
        className: 'path',
        cell: ({ kind, namespace, name, id, apiVersion, cluster }) => [
          h('span', { class: 'kind' }, kind),
          ' ',
          name === '' || cluster !== undefined
            ? `${name === '' ? id : name}${cluster === undefined ? '' : ` in ${cluster}`}`
            : link(
                hrefOf({
                  ...route,
                  node: nodeId({ apiVersion, kind, name, ...(namespace !== '' && { namespace }) }),
                }),
                name,
                'strong',
              ),
        ],
      },
      {
        title: 'Verdict',
        className: 'narrow',
        cell: ({ verdict }) => stateText(verdictHealth[verdict] ?? 'unknown', verdictText(verdict)),
      },
      {
        title: 'What',
        className: 'wide',
        cell: ({ detail, message }) => [detail, message].filter((text) => text !== '').join(': '),
      },
      {
        title: 'Desired',
        className: 'optional',
        cell: ({ digest }) =>
          digest === ''
            ? muted('-')
            : h(
                'code',
                { title: 'Digest of the desired object: equal digests, equal objects' },
                digest,
              ),
      },
    ],
  });
}

function requestTable(requests: readonly RequestView[]): VNode {
  const rows = requests.map((request, index) => ({ ...request, index }));
  return dataTable<(typeof rows)[number]>({
    label: 'Requests of the reconcile',
    rows,
    keyOf: ({ index }) => String(index),
    columns: [
      { title: 'Request', className: 'narrow', cell: ({ verb }) => verb },
      { title: 'Object', className: 'wide', cell: ({ object }) => object },
      {
        title: 'Response',
        className: 'narrow',
        cell: ({ code: status }) =>
          stateText(
            status >= 200 && status < 300 ? 'ready' : 'failing',
            status === 0 ? 'none' : String(status),
          ),
      },
      {
        title: 'Took',
        className: 'number',
        cell: ({ durationMs }) => durationText(durationMs),
      },
    ],
  });
}

interface Moment {
  readonly key: string;
  readonly time: string;
  readonly isBad: boolean;
  readonly what: string;
  readonly message: string;
}

function eventTimeline(view: ResourcePageView, resource: KubeObject): VNode {
  const note = view.info.recordsProblem ?? '';
  const moments = [...conditionMoments(resource), ...eventMoments(view, resource)].sort((a, b) =>
    a.time < b.time ? 1 : -1,
  );
  if (moments.length === 0)
    return section('Timeline', emptyBox('No Events and no conditions yet', note));
  return section(
    'Timeline',
    note === '' ? null : h('p', { class: 'muted', key: 'note' }, note),
    dataTable<Moment>({
      label: 'Timeline',
      rows: moments,
      keyOf: ({ key }) => key,
      columns: [
        { title: 'Time', className: 'number', cell: ({ time }) => clock(time, view.nowMs) },
        {
          title: 'Age',
          className: 'number optional',
          cell: ({ time }) => age(time, view.nowMs),
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
    message: [textOf(reason), messageText(message)].filter((text) => text !== '').join(': '),
  }));
}

function eventMoments({ store }: ResourcePageView, resource: KubeObject): readonly Moment[] {
  return eventRows(store, resource).map(({ uid, time, isWarning, reason, message }) => ({
    key: uid,
    time,
    isBad: isWarning,
    what: reason,
    message,
  }));
}
