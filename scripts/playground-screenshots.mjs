// Makes the pictures of the playground for docs/console.md, in both themes.
import { chromium } from 'playwright-core';
import { serveFiles } from '../test/browser/support/static-server.ts';
import { bundlePlayground } from './bundle/playground.mjs';
import { chromiumPath } from './chromium-path.mjs';

const { files } = await bundlePlayground();
const server = await serveFiles(files, '/');
const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
for (const colorScheme of ['light', 'dark']) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme });
  const page = await context.newPage();
  await page.goto(server.url);
  await page.getByText('2/2 ready').first().waitFor();
  await page.locator('.files .cm-content').waitFor();
  await page.waitForTimeout(500);
  await page.screenshot({ path: `docs/console/playground-${colorScheme}.png` });
  await context.close();
}
await browser.close();
await server.close();
