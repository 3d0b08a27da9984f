import { createSystemClock } from '#util/clock.ts';
import { printBigIntegers } from '#util/exact-json.ts';
import { type Example, hrefOf, type RunningApp, startApp } from '#web/browser/index.ts';
import type { ApplyReport } from './messages.ts';
import { isShareLink } from './share-link.ts';
import { type EndableWorker, WorkerBackend } from './worker-backend.ts';
import { Workspace } from './workspace.ts';

/** The entry of the page. Its element names the other files, whose names contain a hash. */
// The worker has read the objects that this page prints.
printBigIntegers();
const clock = createSystemClock();
const root = document.getElementById('console');
const { worker: workerFile, examples: examplesFile } = root?.dataset ?? {};
if (root === null || workerFile === undefined || examplesFile === undefined)
  throw new Error('The page has no element "console" with the names of its files');
const urlOf = (file: string) => new URL(file, document.baseURI);

let app: RunningApp | undefined;
const backend: WorkerBackend = new WorkerBackend({
  clock,
  startWorker: () => new Worker(urlOf(workerFile), { type: 'module' }) as EndableWorker,
  onBusyChange: () => workspace.busyChanged(),
  onFailure: (message) => workspace.failed(message),
});
const workspace: Workspace = new Workspace({
  backend,
  address: location.href.replace(/#.*/, ''),
  firstExample: 'web-app',
  loadExamples: async () => {
    const response = await fetch(urlOf(examplesFile));
    if (!response.ok) throw new Error(`The server responded with status ${response.status}`);
    return (await response.json()) as readonly Example[];
  },
  onChange: () => app?.redraw(),
  onRestart: () => app?.restart(),
  onOpened: showResult,
});
app = startApp({ clock, window, root, backend, workbench: workspace });
const fragment = location.hash;
// The files of a link are not a page.
if (isShareLink(fragment)) history.replaceState(null, '', '#/');
void workspace.start(fragment);
// A link that is opened in this window.
window.addEventListener('hashchange', () => {
  if (isShareLink(location.hash)) location.reload();
});
// A reload would lose the edits: the browser asks.
window.addEventListener('beforeunload', (event) => {
  if (workspace.hasEdits) event.preventDefault();
});

/** The first resource, or the first definition. Not in place of a page that the address names. */
function showResult({ resources, definitions }: ApplyReport): void {
  const pages = [
    ...resources.map((resource) =>
      hrefOf({ page: 'resource', resource, tab: 'tree', detail: 'wanted' }),
    ),
    ...definitions.map((name) => hrefOf({ page: 'definition', name, tab: 'graph' })),
  ];
  const named = [hrefOf({ page: 'files' }), ...pages];
  const isNamed = workspace.state.opened === 1 && named.some((page) => fragment.startsWith(page));
  if (!isNamed) location.hash = pages[0] ?? '#/';
  // The kinds of the definitions are served now.
  app?.restart();
}
