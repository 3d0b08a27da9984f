import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { DevProcess } from '../support/dev-process.ts';
import {
  assertAccessible,
  type ConsolePage,
  launchBrowser,
  openConsole,
  pressChord,
  shownUid,
} from './support/browser.ts';

const files = Object.fromEntries(
  ['web-app.yaml', 'podset.yaml', 'samples/web-app.yaml', 'samples/podset.yaml'].map((name) => [
    name,
    readFileSync(`operators/${name}`, 'utf8'),
  ]),
);
const site = '#/resources/web.example.com/v1/WebApp/default/site';

describe('browser/dev', () => {
  let browser: Browser;
  let dev: DevProcess;
  let url = '';
  let app: ConsolePage;
  before(async () => {
    browser = await launchBrowser();
    dev = new DevProcess({ files });
    const [, address = ''] = await dev.untilSaid(/(http:\S+) {2}\(console\)/);
    url = address;
    await dev.untilSaid(/WebApp default\/site: Ready/);
    app = await openConsole(browser, url);
  });
  after(async () => {
    await browser.close();
    await dev.stop();
  });

  const pages: readonly (readonly [string, string])[] = [
    ['#/', 'web-app'],
    ['#/resources', 'default/site'],
    ['#/definitions/web-app', 'HorizontalPodAutoscaler'],
    ['#/definitions/web-app?tab=source', 'What would happen'],
    ['#/definitions/web-app?tab=rights', 'deployments.apps'],
    ['#/definitions/web-app?tab=rollout', 'Conditions'],
    [site, '2/2 ready'],
    [`${site}?node=Deployment%2Fdefault%2Fsite`, 'spec.replicas'],
    [`${site}?node=Deployment%2Fdefault%2Fsite&detail=live`, 'metadata:'],
    [`${site}?node=Deployment%2Fdefault%2Fsite&detail=differences`, 'the next reconcile'],
    [`${site}?node=Deployment%2Fdefault%2Fsite&detail=owners`, 'spec.replicas'],
    [`${site}?node=Deployment%2Fdefault%2Fsite&detail=events`, 'ScalingReplicaSet'],
    ['#/definitions/web-app?tab=resources', 'default/site'],
    ['#/definitions/web-app?tab=resources', 'Versions of the kind'],
    ['#/definitions/web-app?tab=events', 'Events'],
    [`${site}?tab=edit`, 'What would happen'],
    [`${site}?tab=expressions`, 'Examples'],
  ];
  for (const theme of ['light', 'dark'] as const)
    for (const width of [1280, 390])
      test(`every page is accessible, fits and breaks no policy: ${theme}, ${width} px`, async () => {
        const other = await openConsole(browser, url, { theme, width });
        for (const [hash, text] of pages) {
          await other.go(hash);
          await other.untilText(text);
          await assertAccessible(other, `${hash} ${theme} ${width}`);
          const overflow = await other.page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          assert.equal(overflow, 0, `${hash} scrolls sideways by ${overflow} px`);
        }
        assert.deepEqual(other.problems, []);
        await other.close();
      });

  test('the keyboard reaches a resource, its editor and back', async () => {
    const { page } = app;
    await app.go('#/');
    await app.untilText('web-app');
    await pressChord(page, ['g', 'r'], '#/resources');
    await app.untilText('default/site');
    await page.keyboard.press('/');
    await page.keyboard.type('webapp');
    await page.getByText('1 resource, 1 ready').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('tr[data-row] a:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/WebApp\/default\/site$/);
    await app.untilText('2/2 ready');
    await page.keyboard.press('e');
    await page.waitForURL(/tab=edit/);
    await page.getByText('What would happen').waitFor();
    await app.go(site);
    // The keys move between nodes that are drawn.
    await page.locator('.tree .node').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/node=/);
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('');
  });

  test('an edit shows what would happen before it is saved, and the objects follow', async () => {
    const { page } = app;
    await app.go(`${site}?tab=edit`);
    await page.getByLabel(/^replicas/).fill('3');
    await page
      .locator('.changes li', { hasText: 'Deployment' })
      .getByText('spec.replicas')
      .waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await app.untilText(/"default\/site" is saved/);
    await app.untilText('3/3 ready');
  });

  test('a field of a form has room for its value beside the preview', async () => {
    const other = await openConsole(browser, `${url}${site}?tab=edit`, { width: 768 });
    const field = other.page.getByLabel(/^url/);
    await field.waitFor();
    const { width } = (await field.boundingBox()) ?? { width: 0 };
    assert.ok(width >= 120, `${width} px`);
    await other.close();
  });

  test("the server's validation is shown at the field", async () => {
    const { page } = app;
    await app.go(`${site}?tab=edit`);
    await page.getByLabel(/^port/).fill('99999999');
    await page
      .locator('.schema-form div:has(> label [aria-invalid])')
      .getByText(/less than or equal to 65535/)
      .waitFor();
    await page.getByRole('button', { name: 'Reset' }).click();
  });

  test('a child that is deleted is created again', async () => {
    const { page } = app;
    await app.go(`${site}?node=Service%2Fdefault%2Fsite&detail=live`);
    await page.locator('.node-detail pre.yaml', { hasText: 'kind: Service' }).waitFor();
    const before = await shownUid(page);
    await page.getByRole('button', { name: 'Delete this object' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await app.untilText(/Service "default\/site" is deleted/);
    await shownUid(page, before);
  });

  test('a resource is paused and resumes', async () => {
    const { page } = app;
    await app.go(site);
    await page.getByRole('button', { name: 'Pause' }).click();
    await app.untilText('Paused');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('header.page .state.ready').waitFor();
  });

  test('an expression is evaluated while it is typed', async () => {
    const { page } = app;
    await app.go(`${site}?tab=expressions`);
    await page.locator('.editor .cm-content').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('children.deployment.status.readyReplicas + 39');
    await page.locator('.result pre', { hasText: '42' }).waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('nosuch');
    await app.untilText(/Unknown field "nosuch"/);
  });

  test('a definition is broken and fixed in its editor, and the file follows', async () => {
    const { page } = app;
    const path = join(dev.folder, 'operators', 'web-app.yaml');
    const before = readFileSync(path, 'utf8');
    await app.go('#/definitions/web-app?tab=source');
    await page.locator('.editor .cm-content').click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('nonsense: true\n');
    await app.untilText(/Unknown field "nonsense"/);
    await page.getByRole('button', { name: 'Save' }).click();
    await app.untilText(/web-app\.yaml is saved/);
    assert.match(readFileSync(path, 'utf8'), /^nonsense: true/);
    await page.locator('header.page .state.failing').waitFor();
    await page.locator('.editor .cm-content').click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Delete');
    await page.getByText('no errors').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('header.page .state.ready').waitFor();
    assert.equal(readFileSync(path, 'utf8'), before);
  });

  test('reconciles are recorded with what caused them and what they did', async () => {
    const { page } = app;
    await app.go(site);
    await page.getByRole('button', { name: 'Reconcile now' }).click();
    const row = page.getByRole('row', {
      name: /WebApp default\/site was edited: metadata\.annotations.*4 unchanged/,
    });
    await row.first().waitFor();
    await row.first().getByRole('link').click();
    await page.waitForURL(/reconcile=\d+/);
    await page.locator('tr.changed').waitFor();
    await page.getByRole('heading', { name: /^Reconcile at/ }).waitFor();
    await page.getByRole('table', { name: 'Children of the reconcile' }).waitFor();
    await assertAccessible(app, 'a reconcile');
    // What happened before the page was opened is recorded, too.
    await page
      .getByRole('table', { name: 'Reconciles' })
      .getByRole('row', { name: /was created.*Deployment created/ })
      .waitFor();
  });

  test('nothing on these pages failed or broke the policy', () => {
    assert.deepEqual(app.problems, []);
  });
});
