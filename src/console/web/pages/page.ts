import type { ConsoleBackend } from '../contract.ts';
import type { VNode } from '../preact.ts';
import type { Needs } from '../store/console-store.ts';
import type { View } from '../view.ts';
import { clustersPage } from './clusters-page.ts';
import { definitionNeeds, definitionPage } from './definition-page.ts';
import { clustersNeed, definitionsNeed, hasClusters } from './kinds.ts';
import { overviewNeeds, overviewPage } from './overview-page.ts';
import { resourceNeeds, resourcePage } from './resource-page.ts';
import { resourcesNeeds, resourcesPage } from './resources-page.ts';
import { filesPage, shell, unknownPage } from './shell.ts';

type NeedsView = Pick<View, 'route' | 'store' | 'ui' | 'info'>;

/** What the page of an address and its frame show, and nothing else. */
export function needsOf(view: NeedsView, backend: ConsoleBackend): Needs {
  const { lists, ...others } = pageNeeds(view, backend);
  return { ...others, lists: hasClusters(view.store) ? [...lists, clustersNeed] : lists };
}

function pageNeeds({ route, store, ui, info }: NeedsView, backend: ConsoleBackend): Needs {
  switch (route.page) {
    case 'overview':
    case 'files':
      return { ...overviewNeeds(store), queues: info.hasRecords };
    case 'resources':
      return resourcesNeeds(route, store);
    case 'definition':
      return definitionNeeds(route, store, backend);
    case 'resource':
      return resourceNeeds({ route, store, ui, info }, backend);
    default:
      return { lists: [definitionsNeed], details: [], records: [] };
  }
}

/** The page of an address in its frame. Pure. */
export function pageOf(view: View): VNode {
  const { route } = view;
  switch (route.page) {
    case 'overview':
      return shell(view, overviewPage(view));
    case 'files':
      return shell(view, view.isNarrow ? filesPage() : overviewPage(view));
    case 'clusters':
      return shell(view, clustersPage(view));
    case 'resources':
      return shell(view, resourcesPage({ ...view, route }));
    case 'definition':
      return shell(view, definitionPage({ ...view, route }));
    case 'resource':
      return shell(view, resourcePage({ ...view, route }));
    default:
      return shell(view, unknownPage());
  }
}
