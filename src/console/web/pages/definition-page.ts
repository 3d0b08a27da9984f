import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { approveDeletionsAnnotation, rejectedAnnotation } from '#util/stored-names.ts';
import { BackendError } from '../backend-error.ts';
import type { ConsoleBackend, DefinitionGraph, DefinitionView, RightView } from '../contract.ts';
import {
  type DefinitionSummary,
  definitionSummary,
  messageText,
  textOf,
} from '../model/object-summary.ts';
import { dataTable } from '../parts/data-table.ts';
import {
  button,
  type Content,
  code,
  emptyBox,
  errorBox,
  glyph,
  listProblem,
  loadingBox,
  muted,
  section,
  staleNote,
  stateText,
  tabs,
  titleOfLong,
} from '../parts/elements.ts';
import { graphView } from '../parts/graph-view.ts';
import { sourceView } from '../parts/yaml-view.ts';
import { h, type VNode } from '../preact.ts';
import { type DefinitionTab, definitionHref, definitionTabs } from '../route.ts';
import type { Needs } from '../store/console-store.ts';
import { type DefinitionPageView, detailKey, type View } from '../view.ts';
import { annotate } from './actions.ts';
import { eventsTable } from './events-table.ts';
import { installedObjects } from './installed-objects.ts';
import { definitionObjects, definitionsNeed, eventsNeed, resourcesNeed } from './kinds.ts';
import { pauseButton, resourceRow, resourceTable } from './overview-page.ts';
import { SourceEditor } from './source-editor.ts';
import { versionsTable } from './versions-table.ts';

type DefinitionRoute = DefinitionPageView['route'];

export function definitionNeeds(
  { name, tab }: DefinitionRoute,
  store: View['store'],
  backend: ConsoleBackend,
): Needs {
  const object = definitionObjects(store).find(({ metadata }) => metadata.name === name);
  const resources = object && resourcesNeed(definitionSummary(object));
  const rejected = object?.metadata.annotations?.[rejectedAnnotation] ?? '';
  return {
    lists: [
      definitionsNeed,
      ...(resources === undefined ? [] : [resources]),
      ...(object !== undefined && tab === 'events' ? [eventsNeed(object)] : []),
    ],
    details: [
      {
        key: detailKey('definition', name),
        version: `${object?.metadata.generation ?? ''} ${rejected}`,
        load: (signal) => backend.definition(name, signal),
      },
    ],
    records: [],
  };
}

/** A definition: its graph, source, resources, roll-out, rights and Events. */
export function definitionPage(view: DefinitionPageView): VNode {
  const { store, route } = view;
  const { name } = route;
  const list = store.list(definitionsNeed);
  const problem = listProblem(list, {
    what: 'definitions',
    right: 'list and watch operatordefinitions.homeostat.dev',
  });
  const object = definitionObjects(store).find(({ metadata }) => metadata.name === name);
  if (object === undefined)
    return h(
      'main',
      null,
      h('h1', null, name),
      problem ??
        emptyBox(`There is no definition "${name}"`, 'It was deleted, or the address is wrong.'),
    );
  const summary = definitionSummary(object);
  const detail = store.detail<DefinitionView>(detailKey('definition', name));
  const diagnostics = detail.value?.diagnostics.length ?? 0;
  return h(
    'main',
    null,
    header(view, summary),
    staleNote(list, 'The definition'),
    tabs(
      'Parts of the definition',
      definitionTabs.map((tab) => ({
        label: tabLabels[tab],
        href: definitionHref(name, tab),
        isCurrent: tab === route.tab,
        ...(tab === 'source' && diagnostics > 0 && { count: diagnostics }),
        ...(tab === 'resources' && { count: summary.resources }),
      })),
    ),
    content(view, object, summary),
  );
}

const tabLabels: Readonly<Record<DefinitionTab, string>> = {
  graph: 'Graph',
  source: 'Source',
  resources: 'Resources',
  rollout: 'Roll-out',
  rights: 'Rights',
  events: 'Events',
};

function header(view: View, summary: DefinitionSummary): VNode {
  const { info } = view;
  const { name, health, state, message, kind, group, revision } = summary;
  return h(
    'header',
    { class: 'page' },
    h('h1', null, glyph(health), ' ', name),
    h(
      'p',
      { class: 'muted' },
      h('span', { class: `state ${health}` }, state),
      ' \u00b7 ',
      kind === '' ? 'its kind is not known yet' : `${kind} of ${group}`,
      revision === '' ? null : [' \u00b7 revision ', code(revision)],
    ),
    message === '' ? null : h('p', { class: 'message' }, message),
    info.canEdit ? h('div', { class: 'actions' }, pauseButton(view, summary)) : null,
  );
}

function content(
  view: DefinitionPageView,
  object: KubeObject,
  summary: DefinitionSummary,
): Content {
  switch (view.route.tab) {
    case 'resources':
      return resourcesTab(view, object, summary);
    case 'rollout':
      return rollout(view, object, summary);
    case 'events':
      return eventsTable(view, object);
    default:
      return sourceTabs(view, summary.name);
  }
}

/** With a title, if there are other tables. */
function resourcesTab(view: View, object: KubeObject, summary: DefinitionSummary): Content {
  const own = [versionsTable(object), installedObjects(object)].filter((each) => each !== null);
  const shown = resources(view, summary);
  return own.length === 0 ? shown : [...own, section('Resources', shown)];
}

/** The tabs that need the source. */
function sourceTabs(view: DefinitionPageView, name: string): Content {
  const { store, route } = view;
  const { value, isLoading, error } = store.detail<DefinitionView>(detailKey('definition', name));
  if (value === undefined)
    return isLoading
      ? loadingBox('the source')
      : errorBox('Cannot read the source', error, hintOf(error));
  switch (route.tab) {
    case 'source':
      return source(view, value);
    case 'rights':
      return rights(value.rights);
    default:
      return value.graph === undefined
        ? emptyBox('No graph', 'The source has errors: see the tab "Source".')
        : graphAndSource(view, value.graph, value);
  }
}

/** Beside each other where there is room for both. */
function graphAndSource(
  { isNarrow }: View,
  graph: DefinitionGraph,
  { file, text, diagnostics }: DefinitionView,
): Content {
  if (isNarrow) return graphView(graph);
  return h(
    'div',
    { class: 'graph-and-source' },
    graphView(graph),
    sourceView(text, diagnostics, `Source ${file}`),
  );
}

function hintOf(error: unknown): string {
  return error instanceof BackendError && error.code === 'forbidden'
    ? 'Ask an administrator for the right to read the ConfigMap with the definition.'
    : 'The console tries again when the definition changes.';
}

function source(view: View, definition: DefinitionView): VNode {
  const { file, text, isWritten, diagnostics, name } = definition;
  if (view.info.canSave && isWritten) return h(SourceEditor, { view, definition, key: name });
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return h(
    'div',
    null,
    h(
      'p',
      { class: 'muted' },
      code(file),
      isWritten ? null : ', printed from the object in the cluster',
      ', ',
      errors === 0 ? 'no errors' : `${errors} errors`,
    ),
    sourceView(text, diagnostics, `Source ${file}`),
  );
}

function resources(view: View, summary: DefinitionSummary): Content {
  const need = resourcesNeed(summary);
  if (need === undefined)
    return emptyBox('No resources', 'The kind of the definition is not served yet.');
  const list = view.store.list(need);
  const problem = listProblem(list, {
    what: summary.kind,
    right: `list and watch ${summary.kind}`,
  });
  if (problem !== undefined) return problem;
  const rows = list.objects
    .map((object) => resourceRow(view.store, object))
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  if (rows.length === 0)
    return emptyBox(`There is no ${summary.kind}`, 'Create one with kubectl apply.');
  return [
    staleNote(list, `The list of ${summary.kind}`),
    resourceTable(view, rows, `Resources of kind ${summary.kind}`),
  ];
}

function rollout(view: View, object: KubeObject, summary: DefinitionSummary): Content {
  const { rollout: running, revision, name } = summary;
  const { actions, info } = view;
  const conditions = conditionsTable(object);
  if (running === undefined)
    return [
      h(
        'p',
        null,
        revision === ''
          ? 'No revision runs.'
          : ['All resources have revision ', code(revision), '.'],
      ),
      conditions,
    ];
  const { from, to, state, reached, total, deletions, dataObjects } = running;
  const count = deletions === 1 ? '1 object' : `${deletions} objects`;
  return [
    h('p', null, 'From revision ', code(from), ' to ', code(to), `: ${state}`),
    h(
      'p',
      null,
      h('progress', { value: reached, max: Math.max(total, 1), 'aria-label': 'Roll-out' }),
      ` ${reached} of ${total} resources`,
      deletions === 0 ? null : `, ${count} ${deletions === 1 ? 'is' : 'are'} deleted`,
    ),
    dataObjects.length === 0
      ? null
      : h('p', null, `These hold data, which is deleted with them: ${dataObjects.join(', ')}`),
    failedResources(view, summary),
    state === 'held' && info.canEdit
      ? button(
          `Approve ${deletions} ${deletions === 1 ? 'deletion' : 'deletions'}`,
          () =>
            actions.ask({
              title: 'Approve the deletions?',
              text: `Revision ${to} of definition "${name}" deletes ${count}.${dataText(dataObjects)}`,
              action: 'Approve',
              run: () =>
                annotate(view, object, {
                  annotations: { [approveDeletionsAnnotation]: to },
                  done: 'The deletions are approved',
                }),
            }),
          { isPrimary: true },
        )
      : null,
    conditions,
  ];
}

function dataText(dataObjects: readonly string[]): string {
  return dataObjects.length === 0 ? '' : ` Data is deleted with ${dataObjects.join(', ')}.`;
}

/** The resources that stop a roll-out. */
function failedResources(view: View, summary: DefinitionSummary): Content {
  const failed = new Set(summary.rollout?.failed);
  const need = resourcesNeed(summary);
  if (failed.size === 0 || need === undefined) return null;
  const rows = view.store
    .list(need)
    .objects.filter(({ metadata }) => failed.has(metadata.uid ?? ''))
    .map((object) => resourceRow(view.store, object));
  return section(
    `Fail with the new revision ${failed.size}`,
    resourceTable(view, rows, 'Resources that fail with the new revision'),
  );
}

/** All conditions of an object. */
export function conditionsTable(object: KubeObject): VNode {
  const conditions = conditionsOf(object);
  return section(
    'Conditions',
    conditions.length === 0
      ? muted('None yet')
      : dataTable({
          label: 'Conditions',
          rows: conditions,
          keyOf: ({ type }) => textOf(type),
          columns: [
            {
              title: 'Condition',
              cell: ({ type, status }) =>
                stateText(
                  status === 'True' ? 'ready' : status === 'False' ? 'failing' : 'unknown',
                  textOf(type),
                ),
            },
            { title: 'Status', className: 'narrow', cell: ({ status }) => textOf(status) },
            { title: 'Reason', className: 'narrow', cell: ({ reason }) => textOf(reason) },
            { title: 'Message', className: 'wide', cell: ({ message }) => messageText(message) },
          ],
        }),
  );
}

function rights(rows: readonly RightView[]): VNode {
  if (rows.length === 0) return emptyBox('No rights are known', 'The source has errors.');
  return dataTable<RightView>({
    label: 'Rights that the runtime needs',
    rows,
    keyOf: ({ resource, where = '' }) => `${resource} ${where}`,
    columns: [
      {
        title: 'Resource',
        className: 'path',
        cell: ({ resource }) => h('span', { class: 'strong', ...titleOfLong(resource) }, resource),
      },
      { title: 'Verbs', className: 'words', cell: ({ verbs }) => verbs.join(', ') },
      { title: 'Where', className: 'optional', cell: ({ where = 'everywhere' }) => where },
      { title: 'Why', className: 'wide optional', cell: ({ reasons }) => reasons.join('; ') },
    ],
  });
}
