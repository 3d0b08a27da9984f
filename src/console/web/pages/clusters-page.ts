import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { countText, matches } from '../model/format.ts';
import { healthOrder, type ObjectSummary, textOf } from '../model/object-summary.ts';
import { type Column, dataTable } from '../parts/data-table.ts';
import {
  type Content,
  emptyBox,
  glyph,
  link,
  listProblem,
  muted,
  staleNote,
} from '../parts/elements.ts';
import { age } from '../parts/moment.ts';
import { h, type VNode } from '../preact.ts';
import { definitionHref } from '../route.ts';
import type { View } from '../view.ts';
import { clustersNeed } from './kinds.ts';

interface ClusterRow extends ObjectSummary {
  readonly object: KubeObject;
  readonly status: JsonObject;
}

/** The member clusters, the most severe first: whether they are connected, and what runs there. */
export function clustersPage(view: View): VNode {
  const { store, ui } = view;
  const list = store.list(clustersNeed);
  const problem = listProblem(list, {
    what: 'clusters',
    right: 'list and watch clusters.homeostat.dev',
  });
  if (list.status === 'missing')
    return page(
      emptyBox(
        'No member clusters',
        'The kind Cluster is not installed. It is needed only to run definitions in other clusters.',
      ),
    );
  if (problem !== undefined) return page(problem);
  const rows = list.objects
    .map((object): ClusterRow => ({ object, status: statusOf(object), ...store.summaryOf(object) }))
    .filter(({ object, state, message }) =>
      matches(ui.search, [object.metadata.name, state, message]),
    )
    .sort(
      (a, b) =>
        healthOrder[a.health] - healthOrder[b.health] ||
        (a.object.metadata.name < b.object.metadata.name ? -1 : 1),
    );
  const ready = rows.filter(({ health }) => health === 'ready').length;
  return page([
    h('p', { class: 'muted' }, `${countText(rows.length, 'cluster')}, ${ready} ready`),
    staleNote(list, 'The list of clusters'),
    rows.length > 0
      ? dataTable({
          label: 'Clusters',
          rows,
          keyOf: ({ object }) => object.metadata.uid ?? '',
          isChanged: ({ object }) => store.isChanged(clustersNeed, object.metadata.uid),
          columns: columnsOf(view),
        })
      : emptyBox(
          ui.search === '' ? 'No member clusters' : `No cluster matches "${ui.search}"`,
          ui.search === '' ? 'Create a Cluster with a Secret that contains a kubeconfig.' : null,
        ),
  ]);
}

function page(content: Content): VNode {
  return h('main', null, h('h1', null, 'Clusters'), content);
}

function columnsOf({ nowMs }: View): readonly Column<ClusterRow>[] {
  return [
    {
      title: 'Cluster',
      cell: ({ health, object }) => [
        glyph(health),
        ' ',
        h('span', { class: 'strong' }, object.metadata.name),
      ],
    },
    { title: 'State', className: 'narrow', cell: ({ state }) => state },
    { title: 'Why', className: 'wide', cell: ({ message }) => message },
    { title: 'Definitions', cell: ({ status }) => definitionsOf(status) },
    {
      title: 'Objects',
      className: 'number optional',
      cell: ({ status }) => String(status.placed ?? 0),
    },
    { title: 'Version', className: 'optional', cell: ({ status }) => textOf(status.version) },
    {
      title: 'Age',
      className: 'number optional',
      cell: ({ object }) => age(object.metadata.creationTimestamp, nowMs),
    },
  ];
}

/** `web-app 3/4`: each with its ready resources. */
function definitionsOf({ definitions }: JsonObject): Content {
  const entries = Array.isArray(definitions) ? definitions.filter(isJsonObject) : [];
  if (entries.length === 0) return muted('-');
  return entries.map(({ name, ready = 0, resources = 0, state, message }, index) => [
    index === 0 ? null : ', ',
    h(
      'span',
      { key: textOf(name), title: textOf(message) },
      link(definitionHref(textOf(name)), textOf(name)),
      state === 'Running' ? ` ${ready}/${resources}` : ` ${textOf(state)}`,
    ),
  ]);
}

function statusOf({ status }: KubeObject): JsonObject {
  return isJsonObject(status) ? status : {};
}
