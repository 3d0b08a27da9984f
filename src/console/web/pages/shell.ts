import type { KubeObject } from '#util/kube-object.ts';
import { BackendError } from '../backend-error.ts';
import { definitionSummary, healthOrder } from '../model/object-summary.ts';
import { button, type Content, errorBox, glyph, link, loadingBox } from '../parts/elements.ts';
import { LiveAge } from '../parts/live-age.ts';
import { h, type VNode } from '../preact.ts';
import { hrefOf } from '../route.ts';
import type { View } from '../view.ts';
import { FilesPane, workbenchNotes } from '../workbench/files-pane.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { dialog } from './dialogs.ts';
import {
  allResourceNeeds,
  clustersNeed,
  definitionObjects,
  definitionsNeed,
  hasClusters,
} from './kinds.ts';

/** The frame of every page: name, cluster, search, counts, the state of the connection, and messages. */
export function shell(view: View, page: Content): VNode {
  const { ui, actions } = view;
  return h(
    'div',
    { class: 'console' },
    topBar(view),
    navigation(view),
    ui.notice === undefined
      ? null
      : h(
          'div',
          {
            class: `notice ${ui.notice.isError ? 'failure' : ''}`,
            role: ui.notice.isError ? 'alert' : 'status',
          },
          glyph(ui.notice.isError ? 'failing' : 'ready'),
          ` ${ui.notice.text} `,
          button('Close', () => actions.set({ notice: undefined })),
        ),
    withFiles(view.workbench, page, view.route.page === 'files'),
    dialog(ui, actions),
  );
}

/** The files beside a page. On a narrow window, one of both. */
function withFiles(workbench: Workbench | undefined, page: Content, showsFiles = false): Content {
  if (workbench === undefined) return page;
  const { state } = workbench;
  return h(
    'div',
    { class: `workbench ${showsFiles ? 'shows-files' : 'shows-page'}`, key: 'workbench' },
    workbenchNotes(workbench),
    h(FilesPane, { workbench, state, key: 'files' }),
    h('div', { class: 'beside' }, page),
  );
}

const themes = { system: 'light', light: 'dark', dark: 'system' } as const;
const themeSigns = { system: '\u25d0', light: '\u2600', dark: '\u263e' } as const;

function topBar({ ui, actions, info }: View): VNode {
  return h(
    'header',
    { class: 'top' },
    h('a', { href: '#/', class: 'brand' }, 'Homeostat'),
    h('span', { class: 'cluster', title: `Version ${info.version}` }, info.cluster),
    info.canEdit ? null : h('span', { class: 'tag' }, 'read-only'),
    h('input', {
      type: 'search',
      id: 'search',
      'aria-label': 'Search kind, name or reason',
      placeholder: 'kind, name, reason   /',
      value: ui.search,
      onInput: (event: Event) => actions.set({ search: (event.target as HTMLInputElement).value }),
    }),
    h(
      'button',
      {
        type: 'button',
        class: 'icon',
        title: `Theme: ${ui.theme}`,
        'aria-label': `Theme: ${ui.theme}`,
        onClick: () => actions.set({ theme: themes[ui.theme] }),
      },
      themeSigns[ui.theme],
    ),
    h(
      'button',
      {
        type: 'button',
        class: 'icon',
        title: 'Help (?)',
        'aria-label': 'Help',
        onClick: () => actions.set({ isHelpOpen: true }),
      },
      '?',
    ),
  );
}

function navigation({ store, route, backend, workbench }: View): VNode {
  const definitions = definitionObjects(store).map(definitionSummary);
  const lists = allResourceNeeds(store).map((need) => store.list(need));
  const isCounted = lists.every(({ status }) => status === 'live' || status === 'stale');
  const objects = lists.flatMap((list) => list.objects);
  // Pages that do not list all resources show the counts of the definitions.
  const all = isCounted ? objects.length : sum(definitions.map(({ resources }) => resources));
  const ready = isCounted ? readyCount(store, objects) : sum(definitions.map((each) => each.ready));
  const worst = definitions
    .map(({ health }) => health)
    .sort((a, b) => healthOrder[a] - healthOrder[b])[0];
  const { page } = route;
  const clusters = store.list(clustersNeed).objects;
  return h(
    'nav',
    { class: 'main', 'aria-label': 'Pages' },
    workbench === undefined
      ? null
      : h('span', { class: 'narrow-only' }, entry('#/files', page === 'files', 'Files')),
    entry('#/', page === 'overview' || page === 'definition', [
      worst === undefined || worst === 'ready' ? null : [glyph(worst), ' '],
      `Definitions ${definitions.length}`,
    ]),
    entry(hrefOf({ page: 'resources' }), page === 'resources' || page === 'resource', [
      `Resources ${all}`,
      readyNumbers(ready, all),
    ]),
    hasClusters(store)
      ? entry(hrefOf({ page: 'clusters' }), page === 'clusters', [
          `Clusters ${clusters.length}`,
          readyNumbers(readyCount(store, clusters), clusters.length),
        ])
      : null,
    connection(store, backend),
  );
}

function readyCount(store: View['store'], objects: readonly KubeObject[]): number {
  return objects.filter((object) => store.summaryOf(object).health === 'ready').length;
}

function readyNumbers(ready: number, all: number): Content {
  return [
    h('span', { class: 'muted' }, ` ${ready} ready`),
    all > ready ? h('span', { class: 'state failing' }, ` ${all - ready} not`) : null,
  ];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function entry(href: string, isCurrent: boolean, content: Content): VNode {
  return h('a', { href, ...(isCurrent && { 'aria-current': 'page' as const }) }, content);
}

function connection(store: View['store'], { silentMs }: View['backend']): VNode {
  const { status } = store.list(definitionsNeed);
  const isLive = status === 'live';
  return h(
    'span',
    { class: 'connection' },
    h(
      'span',
      { role: 'status' },
      glyph(isLive ? 'ready' : 'unknown'),
      isLive ? ' live' : status === 'loading' ? ' loading' : ' not live',
    ),
    isLive && silentMs !== undefined ? h(LiveAge, { silentMs }) : null,
  );
}

/** Shown before the console is connected. */
export function connecting(
  error: unknown,
  { ui, actions, workbench }: Pick<View, 'ui' | 'actions' | 'workbench'>,
): VNode {
  const page = h(
    'main',
    null,
    h('h1', { class: 'hidden' }, 'Homeostat'),
    error === undefined
      ? loadingBox(workbench === undefined ? 'the cluster' : 'the sandbox')
      : errorBox('Not connected', error, connectHint(error)),
  );
  return h(
    'div',
    { class: 'console' },
    h('header', { class: 'top' }, h('a', { href: '#/', class: 'brand' }, 'Homeostat')),
    withFiles(workbench, page),
    dialog(ui, actions),
  );
}

function connectHint(error: unknown): string {
  if (error instanceof BackendError && error.code === 'forbidden')
    return 'The credentials of the kubeconfig are not accepted: renew them, and start the console again.';
  return 'Is the process that printed this address still running? The console tries again by itself.';
}

/** The page beside the files where there is room for the files only. */
export function filesPage(): VNode {
  return h('main', null, h('h1', { class: 'hidden' }, 'Files'));
}

/** The page of an address that names none. */
export function unknownPage(): VNode {
  return h(
    'main',
    null,
    h('h1', null, 'There is no such page'),
    h('p', null, link('#/', 'Back to the overview')),
  );
}
