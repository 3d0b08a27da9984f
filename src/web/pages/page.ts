import type { ConsoleBackend } from '../contract.ts';
import type { VNode } from '../preact.ts';
import type { Needs } from '../store/console-store.ts';
import type { View } from '../view.ts';
import { definitionNeeds, definitionPage } from './definition-page.ts';
import { definitionsNeed } from './kinds.ts';
import { overviewNeeds, overviewPage } from './overview-page.ts';
import { resourceNeeds, resourcePage } from './resource-page.ts';
import { resourcesNeeds, resourcesPage } from './resources-page.ts';
import { shell, unknownPage } from './shell.ts';

/** What the page of an address shows, and nothing else. */
export function needsOf(
  { route, store, ui, info }: Pick<View, 'route' | 'store' | 'ui' | 'info'>,
  backend: ConsoleBackend,
): Needs {
  switch (route.page) {
    case 'overview':
    case 'files':
      return overviewNeeds(store);
    case 'resources':
      return resourcesNeeds(store);
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
    case 'files':
      return shell(view, overviewPage(view));
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
