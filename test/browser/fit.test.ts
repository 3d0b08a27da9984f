import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { type ConsolePage, launchBrowser, openConsole } from './support/browser.ts';
import { type ServedCluster, thing } from './support/served-cluster.ts';
import { withThings } from './support/with-things.ts';

const one = '#/resources/example.com/v1/Thing/default/one';
/** The longest name that the API server accepts. */
const longName = `${'a-long-name.'.repeat(21)}x`;
const clusterCrd = parseYaml(
  readFileSync('deploy/chart/files/crds/clusters.homeostat.dev.yaml', 'utf8'),
) as KubeObject;

describe('browser/fit', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  /** A page on a cluster with a resource of a short and one of a long name. */
  async function onPage(
    { hash, width }: { readonly hash: string; readonly width: number },
    use: (app: ConsolePage, cluster: ServedCluster) => Promise<void>,
  ) {
    await withThings(async (cluster) => {
      await cluster.apply(clusterCrd, 'customresourcedefinitions');
      await cluster.apply(thing('one', true), 'things');
      await cluster.apply(thing(longName, false, 'Waits'), 'things');
      const app = await openConsole(browser, `${cluster.url}${hash}`, { width });
      await use(app, cluster);
      assert.deepEqual(app.problems, []);
      await app.close();
    });
  }

  async function overflowOf({ page }: ConsolePage): Promise<number> {
    return page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
  }

  for (const width of [360, 768])
    test(`nothing lies over a page of the navigation or a tab: ${width} px`, async () => {
      await onPage({ hash: '#/definitions/thing?tab=rights', width }, async (app) => {
        await app.page.getByRole('table', { name: /^Rights/ }).waitFor();
        await app.page.getByRole('link', { name: /^Clusters/ }).waitFor();
        const hidden = await app.page.evaluate(() =>
          [...document.querySelectorAll('nav.main a, nav.main .connection, nav.tabs a')]
            .filter((element) => {
              const { left, right, top, bottom } = element.getBoundingClientRect();
              const at = (x: number) => document.elementFromPoint(x, (top + bottom) / 2);
              return ![left + 4, right - 4].every((x) => element.contains(at(x)));
            })
            .map(({ textContent }) => textContent),
        );
        assert.deepEqual(hidden, []);
        assert.equal(await overflowOf(app), 0);
      });
    });

  for (const width of [360, 768, 1440])
    test(`a name of ${longName.length} characters fits: ${width} px`, async () => {
      for (const hash of ['#/', '#/resources', `${one.replace(/one$/, longName)}?tab=edit`])
        await onPage({ hash, width }, async (app) => {
          const shown = app.page.locator(`[title*="${longName}"], h1:has-text("${longName}")`);
          await shown.first().waitFor();
          assert.equal(await overflowOf(app), 0, hash);
        });
    });

  test('YAML is copied as it is shown', async () => {
    await onPage({ hash: `${one}?detail=live`, width: 1280 }, async ({ page }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByRole('button', { name: 'Copy YAML' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const copied = parseYaml(await page.evaluate(() => navigator.clipboard.readText()));
      const { kind, metadata } = copied as KubeObject & { metadata: { managedFields?: unknown } };
      assert.deepEqual([kind, metadata.name, metadata.managedFields], ['Thing', 'one', undefined]);
    });
  });

  test('pointing at an age shows the time with its zone', async () => {
    await onPage({ hash: '#/resources', width: 1280 }, async ({ page }) => {
      const time = page.getByRole('table', { name: 'Resources' }).locator('time').first();
      assert.match((await time.getAttribute('title')) ?? '', /^\d{4}-\d\d-\d\d .* UTC[+-]/);
    });
  });
});
