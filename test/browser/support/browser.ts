import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { patienceMs } from '../../support/patience.ts';

export interface OpenOptions {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** Runs in the page before its scripts. */
  readonly initScript?: () => void;
}

/** A page of the console, with all that must not happen on it. */
export interface ConsolePage {
  readonly page: Page;
  /** Errors of scripts, violations of the content security policy, and failed requests but those that are aborted. */
  readonly problems: readonly string[];
  /** Opens another page of the console. */
  go(hash: string): Promise<void>;
  /** Resolves when the page shows the text. */
  untilText(text: string | RegExp): Promise<void>;
  /** Violations that axe finds. */
  violations(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** A real Chromium without a window, with more arguments. */
export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  const executablePath = process.env.HOMEOSTAT_CHROMIUM ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...args] });
}

export async function openConsole(
  browser: Browser,
  url: string,
  { theme = 'light', width = 1280, height = 800, initScript }: OpenOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    // In the middle of a transition a color is neither of the two that are to be checked.
    reducedMotion: 'reduce',
  });
  if (initScript !== undefined) await context.addInitScript(initScript);
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.goto(url);
  return {
    page,
    problems,
    async go(hash) {
      await page.evaluate((next) => {
        location.hash = next;
      }, hash);
    },
    async untilText(text) {
      await page.getByText(text).first().waitFor();
    },
    async violations() {
      // Through the debugger: the policy of the page permits no other script.
      await page.evaluate(
        readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
      );
      return page.evaluate(async () => {
        const { axe } = globalThis as unknown as {
          axe: {
            run(): Promise<{
              violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
            }>;
          };
        };
        const { violations } = await axe.run();
        return violations.flatMap(({ id, nodes }) =>
          nodes.map(
            ({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`,
          ),
        );
      });
    },
    async close() {
      await context.close();
    },
  };
}

/** Presses two keys that belong together until the page follows: they count as two when much time is between them. */
export async function pressChord(page: Page, keys: readonly string[], hash: string): Promise<void> {
  const deadline = performance.now() + patienceMs;
  do {
    if (performance.now() > deadline) assert.fail(`${keys.join(' ')} does not lead to ${hash}`);
    for (const key of keys) await page.keyboard.press(key);
  } while ((await page.evaluate(() => location.hash)) !== hash);
}

/** Fails with all violations in both themes and both widths. */
export async function assertAccessible(console_: ConsolePage, what: string): Promise<void> {
  assert.deepEqual(await console_.violations(), [], what);
}

/** The UID of the object whose YAML is shown, when it differs from another. */
export async function shownUid(page: Page, other = ''): Promise<string> {
  const shown = await page.waitForFunction((old) => {
    const text = document.querySelector('.node-detail pre.yaml')?.textContent ?? '';
    // Its owner has a UID too, further to the right.
    const uid = /^ {2}uid: (\S+)/m.exec(text)?.[1];
    return uid === old ? undefined : uid;
  }, other);
  return String(await shown.jsonValue());
}
