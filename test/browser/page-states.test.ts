import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import {
  assertAccessible,
  type ConsolePage,
  launchBrowser,
  openConsole,
  pressChord,
} from './support/browser.ts';
import { condition, type ServedCluster, thing } from './support/served-cluster.ts';
import { withThings } from './support/with-things.ts';

const one = '#/resources/example.com/v1/Thing/default/one';
const definition = '#/definitions/thing';
const clusterCrd = parseYaml(
  readFileSync('deploy/chart/files/crds/clusters.homeostat.dev.yaml', 'utf8'),
) as KubeObject;

function member(name: string, isReady: boolean, message = ''): KubeObject {
  const [reason, status] = isReady ? ['Connected', 'True'] : ['Unreachable', 'False'];
  return {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { kubeconfig: { secretRef: { name } } },
    status: {
      conditions: [
        condition('Connected', status, reason, message),
        condition('Ready', status, reason, message),
      ],
      version: 'v1.36.0',
      definitions: [{ name: 'thing', state: 'Running', ready: 1, resources: 2 }],
    },
  } as KubeObject;
}

/** Each page with what it shows, and what its list is called in messages. */
const pages: readonly {
  readonly hash: string;
  readonly shows: string;
  readonly list: RegExp;
  readonly what: string;
}[] = [
  { hash: '#/', shows: 'default/one', list: /operatordefinitions/, what: 'definitions' },
  { hash: '#/resources', shows: 'default/one', list: /things/, what: 'Thing' },
  { hash: '#/clusters', shows: 'eu-1', list: /clusters/, what: 'clusters' },
  { hash: definition, shows: 'revision', list: /operatordefinitions/, what: 'definitions' },
  { hash: `${definition}?tab=resources`, shows: 'default/one', list: /things/, what: 'Thing' },
  { hash: `${definition}?tab=events`, shows: 'No Events', list: /events/, what: 'Events' },
  { hash: one, shows: 'Timeline', list: /things/, what: 'Thing' },
];

const states = ['forbidden', 'failed', 'stale', 'loading'] as const;
type State = (typeof states)[number];

describe('browser/page-states', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  async function withPages(use: (cluster: ServedCluster) => Promise<void>, options = {}) {
    await withThings(async (cluster) => {
      await cluster.apply(clusterCrd, 'customresourcedefinitions');
      await cluster.apply(thing('one', false, 'Waits'), 'things');
      await cluster.apply(member('eu-1', true), 'clusters');
      await cluster.apply(member('us-1', false, 'No route to the host'), 'clusters');
      await use(cluster);
    }, options);
  }

  /** A page of the console that is opened in a state. */
  async function opened(cluster: ServedCluster, hash: string, options = {}): Promise<ConsolePage> {
    return openConsole(browser, `${cluster.url}${hash}`, options);
  }

  // Each theme and each width for each page and state; which of them meet changes from page to page, since all four would take twice as long.
  for (const [at, state] of states.entries())
    test(`pages are accessible and fit: ${state}`, async () => {
      await withPages(async (cluster) => {
        for (const [index, page] of pages.entries())
          for (const theme of ['light', 'dark'] as const) {
            const isWide = (theme === 'light') === ((at + index) % 2 === 0);
            await assertFits(cluster, page, { state, theme, width: isWide ? 1280 : 390 });
          }
      });
    });

  async function assertFits(
    cluster: ServedCluster,
    { hash, shows, list, what }: (typeof pages)[number],
    { state, theme, width }: { state: State; theme: 'light' | 'dark'; width: number },
  ): Promise<void> {
    const label = `${state} ${hash} ${theme} ${width}`;
    if (state === 'forbidden') cluster.rejectLists(list, 403);
    if (state === 'failed') cluster.rejectLists(list, 500);
    const release = state === 'loading' ? cluster.holdLists(list) : undefined;
    const app = await opened(cluster, hash, { theme, width });
    if (state === 'forbidden') await app.untilText(`Not permitted to read ${what}`);
    if (state === 'failed') await app.untilText(`Cannot read ${what}`);
    if (state === 'loading') await app.untilText(`Loading ${what}`);
    if (state === 'stale') {
      await app.untilText(shows);
      cluster.breakWatches();
      await app.untilText(/may be out of date/);
    }
    await assertAccessible(app, label);
    const overflow = await app.page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.equal(overflow, 0, `${label} scrolls sideways by ${overflow} px`);
    cluster.restoreWatches();
    release?.();
    if (state === 'loading') await app.untilText(shows);
    await app.close();
  }

  test('a page that fails is shown when the server answers again', async () => {
    await withPages(async (cluster) => {
      cluster.rejectLists(/things/, 500);
      const app = await opened(cluster, '#/resources');
      await app.untilText('Cannot read Thing');
      cluster.rejectLists(/nothing/, 500);
      await app.untilText('default/one');
      await app.close();
    });
  });

  test('a forbidden kind is named with the right that is missing, and the rest is shown', async () => {
    await withPages(async (cluster) => {
      cluster.rejectLists(/things/, 403);
      const app = await opened(cluster, '#/');
      await app.untilText('thing');
      await app.go('#/resources');
      await app.untilText('list and watch Thing');
      await app.close();
    });
  });

  test('a stream that breaks makes a page stale, and it is live again when it returns', async () => {
    await withPages(async (cluster) => {
      const app = await opened(cluster, '#/');
      await app.untilText('default/one');
      cluster.breakWatches();
      await app.untilText(/may be out of date/);
      await app.untilText('not live');
      await app.untilText('default/one');
      await cluster.apply(thing('second', false, 'Waits'), 'things');
      cluster.restoreWatches();
      await app.untilText('default/second');
      await app.page.getByText(/may be out of date/).waitFor({ state: 'detached' });
      await app.page.locator('.connection', { hasText: /live \d+\.\d s/ }).waitFor();
      await app.close();
    });
  });

  test('a list is read again when the server no longer has its version', async () => {
    await withPages(async (cluster) => {
      const app = await opened(cluster, '#/resources');
      await app.untilText('default/one');
      const { lists } = { ...cluster.requests };
      cluster.expireWatches();
      await cluster.apply(thing('second', true), 'things');
      await app.untilText('default/second');
      assert.ok(cluster.requests.lists > lists, 'Nothing was listed again');
      await app.page.getByText(/may be out of date/).waitFor({ state: 'detached' });
      await app.close();
    });
  });

  test('a page costs one list and one watch for each kind that it shows', async () => {
    await withPages(async (cluster) => {
      const app = await opened(cluster, '#/resources');
      await app.untilText('default/one');
      await app.page.locator('.connection', { hasText: 'live' }).waitFor();
      // Definitions, Things and Clusters.
      assert.equal(cluster.requests.lists, 3);
      await app.go('#/');
      await app.untilText('thing');
      assert.equal(cluster.requests.lists, 3);
      await app.close();
    });
  });

  for (const [hash, text] of [
    [definition, 'Cannot read the source'],
    [`${one}?tab=edit`, 'Cannot compute it'],
  ] as const)
    test(`a question that fails is an error on the page: ${hash}`, async () => {
      await withPages(async (cluster) => {
        cluster.failQuestions();
        const app = await opened(cluster, hash);
        await app.untilText(text);
        await app.untilText('The test fails the question');
        await assertAccessible(app, hash);
        await app.close();
      });
    });

  test('clusters are counted and listed with their state, the severe ones first', async () => {
    await withPages(async (cluster) => {
      const app = await opened(cluster, '#/');
      await app.page.getByRole('link', { name: /Clusters 2.*1 ready.*1 not/ }).click();
      await app.untilText('No route to the host');
      const rows = app.page.getByRole('table', { name: 'Clusters' }).locator('tbody tr');
      assert.match((await rows.first().textContent()) ?? '', /us-1.*Unreachable/);
      assert.match((await rows.last().textContent()) ?? '', /eu-1.*thing 1\/2/);
      await assertAccessible(app, 'clusters');
      await pressChord(app.page, ['g', 'd'], '#/');
      await app.untilText('Definition');
      await app.close();
    });
  });

  test('what does not exist is said, with a way back', async () => {
    await withPages(async (cluster) => {
      const app = await opened(cluster, '#/definitions/none');
      await app.untilText('There is no definition "none"');
      await app.go('#/resources/example.com/v1/Thing/default/none');
      await app.page.getByRole('link', { name: 'All resources of kind Thing' }).click();
      await app.untilText('default/one');
      await app.go('#/nonsense');
      await app.page.getByRole('link', { name: 'Back to the overview' }).click();
      await app.untilText('default/one');
      await app.close();
    });
  });
});
