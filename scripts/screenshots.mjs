// Makes the pictures of docs/console.md: the shipped operators in a sandbox, in both themes.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumPath } from './chromium-path.mjs';

const site = '#/resources/web.example.com/v1alpha1/WebApp/default/site';
const pages = [
  ['overview', '#/', 'virtual-machine'],
  ['definition', '#/definitions/web-app', 'HorizontalPodAutoscaler'],
  ['resource', `${site}?node=Deployment%2Fdefault%2Fsite`, 'spec.replicas'],
  ['edit', `${site}?tab=edit`, 'What would happen'],
  ['expressions', `${site}?tab=expressions`, 'Reads'],
];

const folder = mkdtempSync(join(tmpdir(), 'homeostat-screenshots-'));
const dev = spawn(
  process.execPath,
  ['src/cli/homeostat.ts', 'dev', '--write-kubeconfig', join(folder, 'kubeconfig')],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const url = await started(dev);
  mkdirSync('docs/console', { recursive: true });
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme,
    });
    const page = await context.newPage();
    for (const [name, hash, text] of pages) {
      await page.goto(url + hash);
      await page.reload();
      await page.getByText(text).first().waitFor();
      if (name === 'edit') {
        await page.getByLabel(/^replicas/).fill('3');
        await page.locator('.changes li', { hasText: 'Deployment' }).first().waitFor();
      }
      await page.waitForTimeout(500);
      await page.screenshot({ path: `docs/console/${name}-${colorScheme}.png` });
    }
    await context.close();
  }
  await browser.close();
} finally {
  dev.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

/** The address of the console, when the samples are ready. */
function started(process_) {
  let output = '';
  return new Promise((resolve, reject) => {
    process_.once('exit', () => reject(new Error(`"homeostat dev" has ended: ${output}`)));
    process_.stdout.on('data', (chunk) => {
      output += chunk;
      const address = /(http:\S+) {2}\(console\)/.exec(output)?.[1];
      if (address !== undefined && /WebApp default\/site: Ready/.test(output)) resolve(address);
    });
  });
}
