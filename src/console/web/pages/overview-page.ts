import type { KubeObject } from '#util/kube-object.ts';
import { pausedAnnotation } from '#util/stored-names.ts';
import { countText, matches } from '../model/format.ts';
import {
  type DefinitionSummary,
  healthOrder,
  type ObjectSummary,
  placeOf,
} from '../model/object-summary.ts';
import { type Column, dataTable } from '../parts/data-table.ts';
import {
  button,
  type Content,
  emptyBox,
  glyph,
  link,
  listProblem,
  muted,
  section,
  staleNote,
} from '../parts/elements.ts';
import { age } from '../parts/moment.ts';
import { h, type VNode } from '../preact.ts';
import { definitionHref, hrefOf, resourceHref } from '../route.ts';
import type { Needs } from '../store/console-store.ts';
import type { View } from '../view.ts';
import { annotate } from './actions.ts';
import {
  allResourceNeeds,
  definitionObjects,
  definitionSummaries,
  definitionsNeed,
} from './kinds.ts';

/** A resource with its state. */
export interface ResourceRow extends ObjectSummary {
  readonly object: KubeObject;
  /** `namespace/name`. */
  readonly place: string;
}

export function resourceRow(store: View['store'], object: KubeObject): ResourceRow {
  return { ...store.summaryOf(object), object, place: placeOf(object.metadata) };
}

export function overviewNeeds(store: View['store']): Needs {
  return { lists: [definitionsNeed, ...allResourceNeeds(store)], details: [], records: [] };
}

/** One row per definition, the most severe first; below, the resources that are not ready. */
export function overviewPage(view: View): VNode {
  const { store, ui } = view;
  const list = store.list(definitionsNeed);
  const problem = listProblem(list, {
    what: 'definitions',
    right: 'list and watch operatordefinitions.homeostat.dev',
  });
  if (problem !== undefined) return h('main', null, h('h1', null, 'Overview'), problem);
  const definitions = definitionSummaries(store)
    .filter(({ name, kind, state, message }) => matches(ui.search, [name, kind, state, message]))
    .sort((a, b) => healthOrder[a.health] - healthOrder[b.health] || (a.name < b.name ? -1 : 1));
  return h(
    'main',
    null,
    h('h1', { class: 'hidden' }, 'Overview'),
    staleNote(list, 'The list of definitions'),
    definitions.length === 0 ? noDefinitions(view) : definitionTable(view, definitions),
    notReady(view),
  );
}

const whereDefinitionsAre: Readonly<Record<View['info']['home'], string>> = {
  dev: 'Save an OperatorDefinition in the folder of "homeostat dev", and it appears here.',
  console: 'Apply an OperatorDefinition, or a ConfigMap with the label homeostat.dev/definitions.',
  playground: 'Apply the files, or open an example.',
};

function noDefinitions({ ui, info }: View): VNode {
  if (ui.search !== '') return emptyBox(`No definition matches "${ui.search}"`);
  return emptyBox('No definitions', whereDefinitionsAre[info.home]);
}

function definitionColumns(view: View): readonly Column<DefinitionSummary>[] {
  const { queues } = view.store;
  return [
    {
      title: 'Definition',
      cell: ({ health, name }) => [glyph(health), ' ', link(definitionHref(name), name, 'strong')],
    },
    { title: 'Kind', className: 'optional', cell: ({ kind }) => kind },
    {
      title: 'Ready',
      className: 'number',
      cell: ({ kind, resources, ready }) =>
        kind === ''
          ? muted('-')
          : link(hrefOf({ page: 'resources', kind }), `${ready}/${resources}`),
    },
    ...(queues === undefined
      ? []
      : [
          {
            title: 'Queue',
            className: 'number optional',
            cell: ({ name }: DefinitionSummary) => String(queues[name] ?? 0),
          },
        ]),
    { title: 'Revision', className: 'optional', cell: ({ revision }) => h('code', null, revision) },
    {
      title: 'Since',
      className: 'number optional',
      cell: ({ since }) => age(since, view.nowMs),
    },
    { title: 'State', className: 'wide', cell: (definition) => definitionState(view, definition) },
  ];
}

function definitionState(view: View, definition: DefinitionSummary): Content {
  const { state, message, rollout, isPaused } = definition;
  if (rollout !== undefined)
    return [
      `Roll-out ${isPaused ? 'paused' : rollout.state} `,
      h('progress', {
        value: rollout.reached,
        max: Math.max(rollout.total, 1),
        'aria-label': 'Roll-out',
      }),
      ` ${rollout.reached}/${rollout.total} `,
      pauseButton(view, definition),
    ];
  if (isPaused) return ['Paused ', pauseButton(view, definition)];
  if (message === '') return state;
  const text = [h('span', { class: 'strong' }, state), ` ${message}`];
  if (definition.health !== 'failing') return text;
  // An error with a position is beside its line; others are conditions.
  const tab = /:\d+:\d+: /.test(message) ? 'source' : 'rollout';
  return link(definitionHref(definition.name, tab), text);
}

/** Pauses or resumes a definition with its roll-out. */
export function pauseButton(view: View, { name, isPaused }: DefinitionSummary): VNode | null {
  const { actions, info, store } = view;
  const object = definitionObjects(store).find(({ metadata }) => metadata.name === name);
  if (!info.canEdit || object === undefined) return null;
  return button(
    isPaused ? 'Resume' : 'Pause',
    () =>
      actions.run(() =>
        annotate(view, object, {
          annotations: { [pausedAnnotation]: isPaused ? null : 'true' },
          done: isPaused ? `Definition "${name}" resumes` : `Definition "${name}" is paused`,
        }),
      ),
    { title: 'Sets the annotation homeostat.dev/paused' },
  );
}

function definitionTable(view: View, rows: readonly DefinitionSummary[]): VNode {
  return dataTable({
    label: 'Definitions',
    columns: definitionColumns(view),
    rows,
    keyOf: ({ name }) => name,
    isChanged: ({ uid }) => view.store.isChanged(definitionsNeed, uid),
  });
}

function notReady(view: View): VNode | null {
  const rows = resourceRows(view).filter(({ health }) => health !== 'ready');
  const lists = allResourceNeeds(view.store).map((need) => view.store.list(need));
  if (lists.some(({ status }) => status === 'loading')) return null;
  if (rows.length === 0)
    return section(
      'Not ready',
      h(
        'p',
        { class: 'muted' },
        view.ui.search === '' ? 'All resources are ready.' : 'No resource matches.',
      ),
    );
  return section(
    `Not ready ${rows.length}`,
    resourceTable(view, rows, 'Resources that are not ready'),
  );
}

/** All resources of all definitions that match the search, the most severe first. */
export function resourceRows({ store, ui }: View): readonly ResourceRow[] {
  return allResourceNeeds(store)
    .flatMap((need) => store.list(need).objects)
    .map((object) => resourceRow(store, object))
    .filter(({ object, place, state, message }) =>
      matches(ui.search, [object.kind, place, state, message]),
    )
    .sort(
      (a, b) =>
        healthOrder[a.health] - healthOrder[b.health] ||
        compare(a.object.kind, b.object.kind) ||
        compare(a.place, b.place),
    );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Resources with their state, each a link. */
export function resourceTable(
  { store, nowMs }: Pick<View, 'store' | 'nowMs'>,
  rows: readonly ResourceRow[],
  label: string,
): VNode {
  const needs = allResourceNeeds(store);
  return dataTable<ResourceRow>({
    label,
    rows,
    keyOf: ({ object }) => object.metadata.uid ?? '',
    isChanged: ({ object }) =>
      needs.some(
        (need) => need.kind.kind === object.kind && store.isChanged(need, object.metadata.uid),
      ),
    columns: [
      {
        title: 'Resource',
        cell: ({ object, health, place }) => [
          glyph(health),
          ' ',
          h('span', { class: 'kind' }, object.kind),
          ' ',
          link(resourceHref(object), place, 'strong'),
        ],
      },
      { title: 'State', className: 'narrow', cell: ({ state }) => state },
      { title: 'Why', className: 'wide', cell: ({ message }) => message },
      {
        title: 'Age',
        className: 'number optional',
        cell: ({ object }) => age(object.metadata.creationTimestamp, nowMs),
      },
    ],
  });
}

/** `41 of 43 ready`, for people. */
export function readyText(ready: number, all: number): string {
  return `${countText(all, 'resource')}, ${ready} ready`;
}
