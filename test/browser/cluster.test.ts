import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import {
  type ControlPlane,
  InstantKubelet,
  startControlPlane,
} from '../support/control-plane/index.ts';
import { DevProcess } from '../support/dev-process.ts';
import { launchBrowser, openConsole, shownUid } from './support/browser.ts';

const files = Object.fromEntries(
  ['web-app.yaml', 'samples/web-app.yaml'].map((name) => [
    name,
    readFileSync(`operators/${name}`, 'utf8'),
  ]),
);
const site = '#/resources/web.example.com/v1alpha1/WebApp/default/site';

describe('browser/cluster', () => {
  let browser: Browser;
  let plane: ControlPlane;
  let kubelet: InstantKubelet;
  let runtime: DevProcess;
  before(async () => {
    browser = await launchBrowser();
    plane = await startControlPlane({ users: ['viewer'] });
    kubelet = new InstantKubelet(plane.client());
    kubelet.start({ namespace: 'default' });
    const args = ['--kubeconfig', plane.kubeconfigPath(), '--samples', '--no-console'];
    runtime = new DevProcess({ files, args });
    await runtime.untilSaid(/WebApp default\/site: Ready/);
  });
  after(async () => {
    await browser.close();
    await runtime.stop();
    await kubelet.stop();
    await plane.stop();
  });

  /** A console with the rights of a user. */
  async function withConsole(
    { user, args = [] }: { readonly user: string; readonly args?: readonly string[] },
    use: (url: string) => Promise<void>,
  ) {
    const shown = new DevProcess({
      files: {},
      subcommand: 'console',
      args: ['--kubeconfig', plane.kubeconfigPath(user), ...args],
    });
    const [, url = ''] = await shown.untilSaid(/(http:\/\/127\.0\.0\.1:\d+\/[a-z0-9]{32}\/)\n/);
    try {
      await use(url);
    } finally {
      assert.equal(await shown.stop(), 0);
    }
  }

  test('shows the resources of a real cluster, and changes them', async () => {
    await withConsole({ user: 'admin', args: ['--allow-edits'] }, async (url) => {
      const app = await openConsole(browser, url);
      const { page } = app;
      await page.getByRole('row', { name: /web-app.*1\/1/ }).waitFor();
      await app.go(site);
      for (const text of ['2/2 ready', /ReplicaSet/, 'Not wanted', 'Timeline'])
        await app.untilText(text);
      await app.go(`${site}?node=Deployment%2Fdefault%2Fsite`);
      await app.untilText('spec.replicas');
      await app.go(`${site}?tab=edit`);
      await page.getByLabel(/^replicas/).fill('3');
      await page.locator('.changes li', { hasText: 'Deployment' }).first().waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      await app.untilText('3/3 ready');
      await app.go(`${site}?node=Ingress%2Fdefault%2Fsite&detail=live`);
      await page.locator('.node-detail pre.yaml', { hasText: 'kind: Ingress' }).waitFor();
      const before = await shownUid(page);
      await page.getByRole('button', { name: 'Delete this object' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await shownUid(page, before);
      assert.deepEqual(app.problems, []);
      await app.close();
    });
  });

  test('a user without rights sees which ones are missing', async () => {
    await withConsole({ user: 'viewer' }, async (url) => {
      const app = await openConsole(browser, url);
      await app.untilText('Not permitted to read definitions');
      await app.untilText('list and watch operatordefinitions.homeostat.dev');
      await app.close();
    });
  });
});
