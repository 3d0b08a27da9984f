import { emptyBox, link, listProblem, staleNote } from '../parts/elements.ts';
import { h, type VNode } from '../preact.ts';
import { hrefOf } from '../route.ts';
import type { ListNeed, Needs } from '../store/console-store.ts';
import type { View } from '../view.ts';
import { allResourceNeeds, definitionSummaries, definitionsNeed } from './kinds.ts';
import { readyText, resourceRows, resourceTable } from './overview-page.ts';

type ResourcesRoute = Extract<View['route'], { page: 'resources' }>;

export interface ResourcesPageView extends View {
  readonly route: ResourcesRoute;
}

/** More kinds than these are a list to choose from, not links. */
const mostKindLinks = 20;

export function resourcesNeeds(route: ResourcesRoute, store: View['store']): Needs {
  return { lists: [definitionsNeed, ...shownNeeds(route, store)], details: [], records: [] };
}

function shownNeeds({ kind }: ResourcesRoute, store: View['store']): readonly ListNeed[] {
  return allResourceNeeds(store).filter((need) => kind === undefined || need.kind.kind === kind);
}

/** All resources, of one kind or of all, the most severe first. */
export function resourcesPage(view: ResourcesPageView): VNode {
  const { store, route, ui } = view;
  const needs = shownNeeds(route, store);
  const definitions = store.list(definitionsNeed);
  const problems = [
    listProblem(definitions, {
      what: 'definitions',
      right: 'list operatordefinitions.homeostat.dev',
    }),
    ...needs.map((need) =>
      listProblem(store.list(need), {
        what: need.kind.kind,
        right: `list and watch ${need.kind.kind}`,
      }),
    ),
  ].filter((problem) => problem !== undefined);
  const all = resourceRows(view).filter(
    ({ object }) => route.kind === undefined || object.kind === route.kind,
  );
  const rows = all.filter(({ health }) => route.only === undefined || health !== 'ready');
  const isLoading = needs.some((need) => store.list(need).status === 'loading');
  const ready = all.filter(({ health }) => health === 'ready').length;
  return h(
    'main',
    null,
    h('h1', null, route.kind ?? 'Resources'),
    isLoading && all.length === 0 ? null : h('p', { class: 'muted' }, readyText(ready, all.length)),
    filters(view),
    needs.map((need) => staleNote(store.list(need), need.kind.kind)),
    problems,
    rows.length > 0
      ? resourceTable(view, rows, 'Resources')
      : problems.length > 0
        ? null
        : emptyBox(
            ui.search === '' ? 'No resources' : `No resource matches "${ui.search}"`,
            ui.search === '' ? 'Create one with kubectl apply, or with "homeostat apply".' : null,
          ),
  );
}

function filters({ store, route, actions }: ResourcesPageView): VNode {
  const kinds = [...new Set(definitionSummaries(store).map(({ kind }) => kind))]
    .filter((kind) => kind !== '')
    .sort();
  const only = route.only === undefined ? {} : { only: route.only };
  const entry = (label: string, href: string, isCurrent: boolean) =>
    h(
      'span',
      { key: label, ...(isCurrent && { 'aria-current': 'true' as const }) },
      link(href, label),
    );
  const { kind } = route;
  return h(
    'nav',
    { class: 'filters', 'aria-label': 'Filters' },
    kinds.length > mostKindLinks
      ? kindSelect(kinds, kind, (chosen) =>
          actions.go({ page: 'resources', ...(chosen !== '' && { kind: chosen }), ...only }),
        )
      : [
          entry('All', hrefOf({ page: 'resources', ...only }), kind === undefined),
          kinds.map((each) =>
            entry(each, hrefOf({ page: 'resources', kind: each, ...only }), kind === each),
          ),
        ],
    entry(
      'Not ready',
      hrefOf({
        page: 'resources',
        ...(kind !== undefined && { kind }),
        ...(route.only === undefined && { only: 'not-ready' as const }),
      }),
      route.only !== undefined,
    ),
  );
}

/** @param choose called with the kind, or with nothing for all kinds */
function kindSelect(
  kinds: readonly string[],
  current: string | undefined,
  choose: (kind: string) => void,
): VNode {
  const options = ['', ...kinds].map((value) =>
    h(
      'option',
      { key: value, value, selected: value === (current ?? '') },
      value === '' ? 'All kinds' : value,
    ),
  );
  const onChange = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) =>
    choose(currentTarget.value);
  return h('label', { key: 'kinds' }, 'Kind ', h('select', { onChange }, options));
}
