import type { Browser, Page } from 'playwright-core';
import { type ConsolePage, launchBrowser, type OpenOptions, openConsole } from './browser.ts';
import { type StaticFile, type StaticServer, serveFiles } from './static-server.ts';

/** The editor of the open file. */
export const playgroundEditor = '.files .editor .cm-content';

/** The built playground on a static server, and a browser that reaches no other host. */
export interface ServedPlayground {
  readonly server: StaticServer;
  readonly browser: Browser;
  /** Opens it with a fragment in a window of its own. */
  open(fragment?: string, options?: OpenOptions): Promise<ConsolePage>;
  close(): Promise<void>;
}

export async function servePlayground(): Promise<ServedPlayground> {
  // By a computed path: it is JavaScript without types.
  const { bundlePlayground } = (await import(
    String(new URL('../../../scripts/bundle/playground.mjs', import.meta.url))
  )) as { bundlePlayground(): Promise<{ readonly files: readonly StaticFile[] }> };
  const { files } = await bundlePlayground();
  const server = await serveFiles(files, '/some/where/');
  // Any other host is unknown: nothing of the page may come from elsewhere.
  const browser = await launchBrowser(['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']);
  return {
    server,
    browser,
    open: (fragment = '', options = {}) => openConsole(browser, server.url + fragment, options),
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/** Opens the tab of a file. Resolves when its editor is there: what is pasted before is lost with the editor of the other file. */
export async function openFile(page: Page, file: string): Promise<void> {
  await page.getByRole('tab', { name: file, exact: true }).click();
  await page.locator(`${playgroundEditor}[aria-label="File ${file}"]`).waitFor();
}

/** Replaces the text of the open file, as a paste does. */
export async function writeInEditor(page: Page, text: string): Promise<void> {
  await page.locator(playgroundEditor).click();
  await page.keyboard.press('Control+A');
  await page.locator(playgroundEditor).evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', pasted);
    const event = { clipboardData, bubbles: true, cancelable: true };
    element.dispatchEvent(new ClipboardEvent('paste', event));
  }, text);
}
