import { emptyBox, link, listProblem, staleNote } from '../parts/elements.ts';
import { h, type VNode } from '../preact.ts';
import { hrefOf } from '../route.ts';
import type { Needs } from '../store/console-store.ts';
import type { View } from '../view.ts';
import { allResourceNeeds, definitionSummaries, definitionsNeed } from './kinds.ts';
import { overviewNeeds, readyText, resourceRows, resourceTable } from './overview-page.ts';

export interface ResourcesPageView extends View {
  readonly route: Extract<View['route'], { page: 'resources' }>;
}

export function resourcesNeeds(store: View['store']): Needs {
  return overviewNeeds(store);
}

/** All resources, of one kind or of all, the most severe first. */
export function resourcesPage(view: ResourcesPageView): VNode {
  const { store, route, ui } = view;
  const needs = allResourceNeeds(store).filter(
    ({ kind }) => route.kind === undefined || kind.kind === route.kind,
  );
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
  const ready = all.filter(({ health }) => health === 'ready').length;
  return h(
    'main',
    null,
    h('h1', null, route.kind ?? 'Resources'),
    h('p', { class: 'muted' }, readyText(ready, all.length)),
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

function filters({ store, route }: ResourcesPageView): VNode {
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
    entry('All', hrefOf({ page: 'resources', ...only }), kind === undefined),
    kinds.map((each) =>
      entry(each, hrefOf({ page: 'resources', kind: each, ...only }), kind === each),
    ),
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
