import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import {
  type ControlPlane,
  InstantKubelet,
  startControlPlane,
} from '../support/control-plane/index.ts';
import { conditionOf } from '../support/definitions.ts';
import { DevProcess } from '../support/dev-process.ts';
import { webhookFlags } from '../support/homeostat.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { assertAccessible, launchBrowser, openConsole, shownUid } from './support/browser.ts';

const sample = parseYaml(readFileSync('operators/samples/web-app.yaml', 'utf8')) as KubeObject;
const site = '#/resources/web.example.com/v1/WebApp/default/site';

describe('browser/cluster', () => {
  let browser: Browser;
  let plane: ControlPlane;
  let kubelet: InstantKubelet;
  let runtime: HomeostatProcess;
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-console-'));
  const tokenFile = join(folder, 'token');
  before(async () => {
    browser = await launchBrowser();
    plane = await startControlPlane({ users: ['viewer'] });
    kubelet = new InstantKubelet(plane.client());
    kubelet.start({ namespace: 'default' });
    writeFileSync(tokenFile, 'a-token-of-the-test');
    await plane.client().apply({
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'homeostat-system' } },
    });
    runtime = new HomeostatProcess({
      kubeconfig: plane.kubeconfigPath(),
      definitions: { 'web-app.yaml': readFileSync('operators/web-app.yaml', 'utf8') },
      flags: await webhookFlags('--console-records', tokenFile),
    });
    await runtime.whenReady();
    const client = plane.client();
    await client.apply({ ...sample, metadata: { namespace: 'default', ...sample.metadata } });
    await client.untilObject(
      '/apis/web.example.com/v1/namespaces/default/webapps/site',
      (object) => conditionOf(object)?.status === 'True',
    );
  });
  after(async () => {
    await browser.close();
    await runtime.stop();
    await kubelet.stop();
    await plane.stop();
    rmSync(folder, { recursive: true, force: true });
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

  const recordsArgs = async () => [
    ...['--records-url', await runtime.url(), '--records-token', tokenFile],
  ];

  test('shows the reconciles that the runtime records, with what caused them and what they sent', async () => {
    const args = ['--allow-edits', ...(await recordsArgs())];
    await withConsole({ user: 'admin', args }, async (url) => {
      const app = await openConsole(browser, url);
      const { page } = app;
      await page.getByRole('columnheader', { name: 'Queue' }).waitFor();
      await app.go(site);
      await page.getByRole('row', { name: /was created.*Deployment created/ }).waitFor();
      await page.getByRole('button', { name: 'Reconcile now' }).click();
      const row = page.getByRole('row', { name: /was edited: metadata\.annotations.*unchanged/ });
      await row.first().getByRole('link').click();
      await page.getByRole('heading', { name: /^Reconcile at/ }).waitFor();
      await page.getByRole('table', { name: 'Children of the reconcile' }).waitFor();
      await assertAccessible(app, 'a reconcile');
      assert.deepEqual(app.problems, []);
      await app.close();
    });
  });

  test('a read-only console offers no action, shows reconciles, and says why there are none', async () => {
    await withConsole({ user: 'admin', args: await recordsArgs() }, async (url) => {
      const app = await openConsole(browser, `${url}${site}`);
      await app.page.getByRole('row', { name: /was created.*Deployment created/ }).waitFor();
      await app.untilText('read-only');
      for (const name of ['Pause', 'Reconcile now', 'Delete this object'])
        assert.equal(await app.page.getByRole('button', { name }).count(), 0);
      await app.go(`${site}?tab=edit`);
      await app.page.getByLabel(/^replicas/).fill('1');
      await app.page.locator('.changes li', { hasText: 'Deployment' }).first().waitFor();
      assert.equal(await app.page.getByRole('button', { name: 'Save' }).count(), 0);
      await app.close();
    });
    await withConsole({ user: 'admin' }, async (url) => {
      const app = await openConsole(browser, `${url}${site}`);
      await app.untilText('Timeline');
      await app.untilText(/there is no Secret "homeostat-system\/homeostat-records"/);
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
