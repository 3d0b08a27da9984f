import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { encodeShareLink } from '#playground/share-link.ts';
import {
  assertAccessible,
  type ConsolePage,
  type OpenOptions,
  openConsole,
  shownUid,
} from './support/browser.ts';
import {
  playgroundEditor,
  type ServedPlayground,
  servePlayground,
  writeInEditor,
} from './support/served-playground.ts';
import type { StaticServer } from './support/static-server.ts';

const site = '#/resources/web.example.com/v1/WebApp/default/site';
const sample = readFileSync('operators/samples/web-app.yaml', 'utf8');
const editor = playgroundEditor;

describe('browser/playground', () => {
  let served: ServedPlayground;
  let browser: Browser;
  let server: StaticServer;
  let app: ConsolePage;
  before(async () => {
    served = await servePlayground();
    ({ browser, server } = served);
    app = await served.open();
  });
  after(() => served.close());

  const open = (fragment = '', options: OpenOptions = {}) => served.open(fragment, options);

  const write = ({ page }: ConsolePage, text: string) => writeInEditor(page, text);
  const tab = ({ page }: ConsolePage, name: string) => page.getByRole('tab', { name });
  const closeDialog = ({ page }: ConsolePage) =>
    page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
  const button = ({ page }: ConsolePage, name: string) =>
    page.getByRole('button', { name, exact: true });

  test('it opens an example that runs, and works without the network from then on', async () => {
    const { page } = app;
    await page.waitForURL(/WebApp\/default\/site$/);
    await app.untilText('2/2 ready');
    await page.locator(editor).waitFor();
    await page.context().setOffline(true);
    await app.go('#/definitions/web-app');
    await app.untilText('HorizontalPodAutoscaler');
    await app.go(site);
    await app.untilText('2/2 ready');
  });

  test('a cold load is usable soon', async (t) => {
    const startMs = performance.now();
    const passed = (what: string) =>
      t.diagnostic(`${what} after ${Math.round(performance.now() - startMs)} ms`);
    const cold = await open();
    await cold.page.locator(editor).waitFor();
    passed('the editor is there');
    await cold.page.waitForURL(/WebApp\/default\/site$/);
    passed('the example runs');
    await cold.untilText('2/2 ready');
    passed('its simulated Pods are ready');
    assert.deepEqual(cold.problems, []);
    await cold.close();
  });

  test('a definition is broken and fixed: diagnostics while typing, and the state after an apply', async () => {
    const { page } = app;
    await app.go('#/definitions/web-app');
    await page.locator('header.page .state.ready').waitFor();
    await page.locator(editor).click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('nonsense: true\n');
    await app.untilText(/Unknown field "nonsense"/);
    await button(app, 'Apply').click();
    await page.locator('header.page .state.failing').waitFor();
    await page.locator(editor).click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Delete');
    await page.getByText('no errors').waitFor();
    await page.keyboard.press('Control+s');
    await page.locator('header.page .state.ready').waitFor();
  });

  test('an edited sample shows what would happen, and is applied with Ctrl+S', async () => {
    const { page } = app;
    await app.go(site);
    await tab(app, 'samples/web-app.yaml').click();
    await write(app, sample.replace('replicas: 2', 'replicas: many'));
    await page.locator('.files .diagnostic.error').first().waitFor();
    await write(app, sample.replace('replicas: 2', 'replicas: 3'));
    await page
      .locator('.files .changes li', { hasText: 'Deployment' })
      .getByText('spec.replicas')
      .waitFor();
    await page.keyboard.press('Control+s');
    await app.untilText('3/3 ready');
    await page.locator('.files .applied', { hasText: 'Applied WebApp "site"' }).waitFor();
  });

  test('a child that is deleted is created again, and the reconcile is recorded', async () => {
    const { page } = app;
    await app.go(`${site}?node=Service%2Fdefault%2Fsite&detail=live`);
    await page.locator('.node-detail pre.yaml', { hasText: 'kind: Service' }).waitFor();
    const first = await shownUid(page);
    await button(app, 'Delete this object').click();
    await button(app, 'Delete').click();
    await app.untilText(/Service "default\/site" is deleted/);
    await shownUid(page, first);
    await page
      .getByRole('row', { name: /Service default\/site was deleted/ })
      .first()
      .waitFor();
  });

  test('the pages of the console work: what if, expressions, overview', async () => {
    const { page } = app;
    await app.go(`${site}?tab=expressions`);
    await page.locator('.beside .editor .cm-content').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('children.deployment.status.readyReplicas + 39');
    await page.locator('.beside .result pre', { hasText: '42' }).waitFor();
    await app.go(`${site}?tab=edit`);
    await page.getByLabel(/^replicas/).fill('1');
    await page.locator('.beside .changes li', { hasText: 'Deployment' }).first().waitFor();
    await app.go('#/');
    await page.getByRole('row', { name: /web-app.*1\/1/ }).waitFor();
  });

  test('a link opens the files as they are edited in another window, and is never sent', async () => {
    const { page } = app;
    await button(app, 'Share').click();
    const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
    await closeDialog(app);
    assert.ok(link.startsWith(`${server.url}#/share/1/`), link);
    const other = await openConsole(browser, link);
    await other.page.waitForURL(/WebApp\/default\/site$/);
    await other.untilText('3/3 ready');
    await other.untilText('a shared link');
    assert.deepEqual(
      server.asked.filter((path) => path.includes('share')),
      [],
    );
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  test('a broken link is reported, and an example is open', async () => {
    const other = await open('#/share/1/abcdef');
    await other.untilText('The link cannot be opened');
    await other.untilText('2/2 ready');
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  test('names with markup in a link are text', async () => {
    const text = sample.replace('title: Homeostat', 'title: "<img src=x onerror=alert(1)>"');
    const markup = '# <script>alert(1)</script>\n';
    const files = [
      { file: 'web-app.yaml', text: markup + readFileSync('operators/web-app.yaml', 'utf8') },
      { file: 'samples/web-app.yaml', text: `${markup}${text}` },
    ];
    const other = await open(await encodeShareLink(files));
    await other.page.waitForURL(/WebApp\/default\/site$/);
    await other.untilText('2/2 ready');
    await other.untilText('<script>alert(1)</script>');
    await other.untilText('<img src=x onerror=alert(1)>');
    assert.equal(await other.page.locator('img, script:not([src])').count(), 0);
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  test('an endless expression in a link ends with a message, and the page responds', async () => {
    const endless = readFileSync('operators/podset.yaml', 'utf8').replace(
      '${ spec.size }',
      '${ ($f := function($n) { $f($n + 1) }; $f(0)) }',
    );
    const files = [
      { file: 'podset.yaml', text: endless },
      { file: 'samples/podset.yaml', text: readFileSync('operators/samples/podset.yaml', 'utf8') },
    ];
    const other = await open(await encodeShareLink(files));
    await other.page.waitForURL(/PodSet\/default\/example$/);
    await other.page.locator('header.page .state.failing').waitFor();
    await button(other, 'Examples').click();
    await other.page.getByRole('dialog').waitFor();
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  test('a worker that computes forever is stopped, and the files run again', async () => {
    const other = await open();
    const { page } = other;
    await other.untilText('2/2 ready');
    const [worker] = page.workers();
    assert.ok(worker);
    // In a task of its own, so that it has begun before the page asks something.
    await worker.evaluate(() => {
      setTimeout(() => {
        for (;;);
      });
    });
    await other.go('#/definitions/web-app');
    await other.untilText('The sandbox computes and does not respond');
    await assertAccessible(other, 'busy');
    await button(other, 'Stop it').click();
    await other.go('#/');
    await other.untilText('No definitions');
    await button(other, 'Apply').click();
    await page.waitForURL(/WebApp\/default\/site$/);
    await other.untilText('2/2 ready');
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  test('the worker can send nothing', async () => {
    const [worker] = app.page.workers();
    const types = await worker?.evaluate(() =>
      ['fetch', 'XMLHttpRequest', 'WebSocket', 'importScripts', 'Worker'].map(
        (name) => typeof Reflect.get(globalThis, name),
      ),
    );
    assert.deepEqual(new Set(types), new Set(['undefined']));
  });

  test('the gallery is searched and opened by keyboard, and a reset brings the example back', async () => {
    const other = await open();
    const { page } = other;
    await other.untilText('2/2 ready');
    await button(other, 'Examples').focus();
    await page.keyboard.press('Enter');
    await page.locator('.gallery li').nth(35).waitFor();
    await page.keyboard.type('exists only when needed');
    await page.locator('.gallery li').nth(1).waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/WorkerPool\/default\/invoices$/);
    await other.untilText('3/3 ready');
    await page.getByRole('tab', { name: 'optional-child.yaml' }).first().focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('[role=tab][aria-selected=true]:focus', { hasText: 'samples/' }).waitFor();
    await write(other, 'kind: Nothing\n');
    await page.locator('.files .unsaved').waitFor();
    await button(other, 'Reset').click();
    await page.locator('.files .unsaved').first().waitFor({ state: 'detached' });
    await other.untilText('3/3 ready');
    await tab(other, 'samples/optional-child.yaml').click();
    await page.locator(editor, { hasText: 'kind: WorkerPool' }).waitFor();
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  test('a reload that would lose edits is asked about, another one is not', async () => {
    const other = await open();
    const { page } = other;
    await other.untilText('2/2 ready');
    // Playwright fails on a dialog that nothing answers; there is none.
    await page.reload();
    await other.untilText('2/2 ready');
    await tab(other, 'samples/web-app.yaml').click();
    await write(other, sample.replace('replicas: 2', 'replicas: 3'));
    await page.locator('.files .unsaved').waitFor();
    const asked = page.waitForEvent('dialog');
    const reloaded = page.reload();
    const dialog = await asked;
    assert.equal(dialog.type(), 'beforeunload');
    await dialog.accept();
    await reloaded;
    await other.untilText('2/2 ready');
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  test('"Open in dev" shows the command, and saves the files', async () => {
    const { page } = app;
    await button(app, 'Open in dev').click();
    await app.untilText('homeostat dev web-app');
    const saved = page.waitForEvent('download');
    await page.locator('.downloads li').first().getByRole('button', { name: 'Download' }).click();
    const download = await saved;
    assert.equal(download.suggestedFilename(), 'web-app.yaml');
    assert.equal(
      readFileSync(await download.path(), 'utf8'),
      readFileSync('operators/web-app.yaml', 'utf8'),
    );
    await closeDialog(app);
  });

  const pages: readonly (readonly [string, string])[] = [
    ['#/', 'web-app'],
    ['#/definitions/web-app', 'HorizontalPodAutoscaler'],
    ['#/definitions/web-app?tab=source', 'no errors'],
    [site, '2/2 ready'],
    [`${site}?tab=edit`, 'What would happen'],
    ['#/files', 'Open in dev'],
  ];
  for (const theme of ['light', 'dark'] as const)
    for (const width of [1280, 390])
      test(`every page is accessible, fits and breaks no policy: ${theme}, ${width} px`, async () => {
        const other = await open('', { theme, width });
        const assertFits = async (what: string) => {
          await assertAccessible(other, `${what} ${theme} ${width}`);
          const overflow = await other.page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          assert.equal(overflow, 0, `${what} scrolls sideways by ${overflow} px`);
        };
        await other.page.waitForURL(/WebApp\/default\/site$/);
        for (const [hash, text] of pages) {
          await other.go(hash);
          await other.page.getByText(text).filter({ visible: true }).first().waitFor();
          await assertFits(hash);
        }
        for (const dialog of ['Examples', 'Share', 'Open in dev']) {
          await button(other, dialog).click();
          await other.page.getByRole('dialog').waitFor();
          await assertFits(dialog);
          await closeDialog(other);
        }
        assert.deepEqual(other.problems, []);
        await other.close();
      });

  test('nothing on these pages failed or broke the policy, and nothing came from elsewhere', () => {
    assert.deepEqual(app.problems, []);
    assert.deepEqual(
      server.asked.filter((path) => !path.startsWith('/some/where/')),
      [],
    );
  });
});
