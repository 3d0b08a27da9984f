import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { KubeObject } from '#util/kube-object.ts';
import { patienceMs } from '../support/patience.ts';
import {
  assertAccessible,
  type ConsolePage,
  launchBrowser,
  openConsole,
} from './support/browser.ts';
import { type ServedCluster, thing, thingDefinition } from './support/served-cluster.ts';
import { withThings } from './support/with-things.ts';

const one = '#/resources/example.com/v1/Thing/default/one';
const onePath = '/apis/example.com/v1/namespaces/default/things/one';
const definitionPath = '/apis/homeostat.dev/v1alpha1/operatordefinitions/thing';
const rollout = (state: string) => ({
  rollout: { from: 'aaaa', to: 'bbbb', state, reached: 6, total: 9, deletions: 12 },
});

describe('browser/actions', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  /** A page on a cluster with one resource. */
  async function onPage(
    hash: string,
    use: (app: ConsolePage, cluster: ServedCluster) => Promise<void>,
    prepare: (cluster: ServedCluster) => Promise<void> = async () => undefined,
  ) {
    await withThings(async (cluster) => {
      await cluster.apply(thing('one', true), 'things');
      await prepare(cluster);
      const app = await openConsole(browser, `${cluster.url}${hash}`);
      await use(app, cluster);
      assert.deepEqual(app.problems, []);
      await app.close();
    });
  }

  /** The annotation of an object, once it is as expected. */
  async function untilAnnotated(
    cluster: ServedCluster,
    path: string,
    { name, is }: { readonly name: string; readonly is: (value: string | undefined) => boolean },
  ): Promise<KubeObject> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const object = await cluster.get(path);
      const value = object.metadata.annotations?.[`homeostat.dev/${name}`];
      if (is(value)) return object;
      if (performance.now() > deadline) assert.fail(`${name} is ${value}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  test('held deletions are approved for the revision that holds them, after a question', async () => {
    await onPage(
      '#/',
      async (app, cluster) => {
        const { page } = app;
        await app.untilText('Roll-out held');
        await page.getByRole('link', { name: 'thing', exact: true }).click();
        await page.getByRole('link', { name: 'Roll-out' }).click();
        await app.untilText('6 of 9 resources, 12 objects are deleted');
        await page.getByRole('button', { name: 'Approve 12 deletions' }).click();
        await app.untilText('Revision bbbb of definition "thing" deletes 12 objects.');
        await assertAccessible(app, 'question');
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.locator('dialog').waitFor({ state: 'detached' });
        assert.equal((await cluster.get(definitionPath)).metadata.annotations, undefined);
        await page.getByRole('button', { name: 'Approve 12 deletions' }).click();
        await page.getByRole('button', { name: 'Approve', exact: true }).click();
        await app.untilText('The deletions are approved');
        await untilAnnotated(cluster, definitionPath, {
          name: 'approve-deletions',
          is: (value) => value === 'bbbb',
        });
      },
      (cluster) => cluster.apply(thingDefinition(rollout('held')), 'operatordefinitions'),
    );
  });

  test('a roll-out is paused and resumed in its row', async () => {
    await onPage(
      '#/',
      async (app, cluster) => {
        const row = app.page.getByRole('row', { name: /thing.*Roll-out/ });
        await row.getByText('6/9').waitFor();
        await row.getByRole('button', { name: 'Pause' }).click();
        await untilAnnotated(cluster, definitionPath, {
          name: 'paused',
          is: (value) => value === 'true',
        });
        await row.getByText('Roll-out paused').waitFor();
        await row.getByRole('button', { name: 'Resume' }).click();
        await untilAnnotated(cluster, definitionPath, {
          name: 'paused',
          is: (value) => value === undefined,
        });
        await row.getByText('Roll-out rolling').waitFor();
      },
      (cluster) => cluster.apply(thingDefinition(rollout('rolling')), 'operatordefinitions'),
    );
  });

  test('a resource is paused, resumed and reconciled by its annotations', async () => {
    await onPage(one, async ({ page }, cluster) => {
      await page.getByRole('button', { name: 'Pause' }).click();
      await untilAnnotated(cluster, onePath, { name: 'paused', is: (value) => value === 'true' });
      const reconcile = page.getByRole('button', { name: 'Reconcile now' });
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      assert.equal(await reconcile.isDisabled(), true);
      await page.getByRole('button', { name: 'Resume' }).click();
      await untilAnnotated(cluster, onePath, {
        name: 'paused',
        is: (value) => value === undefined,
      });
      await page.getByRole('button', { name: 'Pause' }).waitFor();
      await reconcile.click();
      await untilAnnotated(cluster, onePath, {
        name: 'reconcile-requested-at',
        is: (value) => value !== undefined && !Number.isNaN(Date.parse(value)),
      });
    });
  });

  test('an action that the server rejects is an error that stays until it is closed', async () => {
    await onPage(one, async (app, cluster) => {
      await app.untilText('default/one');
      cluster.rejectLists(/things\/one$/, 403);
      await app.page.getByRole('button', { name: 'Pause' }).click();
      // The detail of the resource may have an alert of its own: the object cannot be read either.
      const notice = app.page.locator('[role=alert].notice');
      await notice.getByText('The test rejects it').waitFor();
      await assertAccessible(app, 'rejected action');
      await app.page.getByRole('button', { name: 'Close' }).click();
      await notice.waitFor({ state: 'detached' });
    });
  });

  test('everything is reached by keyboard only: search, a definition, its roll-out, an approval', async () => {
    await onPage(
      '#/',
      async (app, cluster) => {
        const { keyboard } = app.page;
        await app.untilText('Roll-out held');
        await keyboard.press('j');
        await app.page.locator('tr[data-row] a:focus').waitFor();
        await keyboard.press('Enter');
        await app.page.waitForURL(/definitions\/thing$/);
        await app.page.getByRole('link', { name: 'Roll-out' }).focus();
        await keyboard.press('Enter');
        await app.page.waitForURL(/tab=rollout/);
        const approve = app.page.getByRole('button', { name: 'Approve 12 deletions' });
        await approve.waitFor();
        for (let steps = 0; steps < 60; steps++) {
          if (await approve.evaluate((element) => element === document.activeElement)) break;
          await keyboard.press('Tab');
        }
        await keyboard.press('Enter');
        await app.page.getByRole('dialog').waitFor();
        // Escape leaves it, and the focus returns to the button.
        await keyboard.press('Escape');
        // Not by its role: a closed dialog has none, and the page learns only then that it is closed.
        await app.page.locator('dialog').waitFor({ state: 'detached' });
        await keyboard.press('Enter');
        await app.page.getByRole('dialog').waitFor();
        const confirm = app.page.getByRole('button', { name: 'Approve', exact: true });
        for (let steps = 0; steps < 10; steps++) {
          if (await confirm.evaluate((element) => element === document.activeElement)) break;
          await keyboard.press('Tab');
        }
        await keyboard.press('Enter');
        await untilAnnotated(cluster, definitionPath, {
          name: 'approve-deletions',
          is: (value) => value === 'bbbb',
        });
        await keyboard.press('Escape');
        await app.page.waitForURL(/definitions\/thing$/);
      },
      (cluster) => cluster.apply(thingDefinition(rollout('held')), 'operatordefinitions'),
    );
  });
});
