/**
 * `npm run bench -- console`: measures the console in a real browser over 2,000 resources with 10 children each, and a tree of 500 objects.
 * Prints figures beside their targets. The cluster is a sandbox in this process, which shares the processor with the browser.
 */
import type { CDPSession } from 'playwright-core';
import { launchBrowser, openConsole } from '../test/browser/support/browser.ts';
import {
  condition,
  serveCluster,
  thing,
  thingCrd,
  thingDefinition,
} from '../test/browser/support/served-cluster.ts';

const resources = 2_000;
const childrenOfEach = 10;
const treeSize = 500;
const changesPerSecond = 50;
const changeSeconds = 10;

const nameOf = (index: number) => `thing-${String(index).padStart(4, '0')}`;

function childStatus(name: string) {
  return {
    id: 'c',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'default',
    name,
    state: 'Ready',
    message: '',
  };
}

/** A resource that reports its children. */
function thingWithChildren(name: string, children: number, isReady = true) {
  const object = thing(name, isReady, isReady ? '' : 'Changed');
  const reason = isReady ? 'AllReady' : 'Progressing';
  return {
    ...object,
    status: {
      conditions: [
        condition('Ready', isReady ? 'True' : 'False', reason, isReady ? '' : 'Changed'),
      ],
      children: Array.from({ length: Math.min(children, 10) }, (_, index) =>
        childStatus(`${name}-${index}`),
      ),
    },
  };
}

const cluster = await serveCluster();
await cluster.apply(thingCrd, 'customresourcedefinitions');
await cluster.apply(
  thingDefinition({ instances: resources, readyInstances: resources }),
  'operatordefinitions',
);

async function create(name: string, children: number): Promise<void> {
  await cluster.apply(thingWithChildren(name, children), 'things');
  const { metadata } = await cluster.get(`/apis/example.com/v1/namespaces/default/things/${name}`);
  const { uid = '' } = metadata;
  const ownerReferences = [
    { apiVersion: 'example.com/v1', kind: 'Thing', name, uid, controller: true },
  ];
  const labels = { 'homeostat.dev/owner-uid': uid, 'homeostat.dev/definition': 'thing' };
  for (let index = 0; index < children; index++)
    await cluster.apply(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `${name}-${index}`, namespace: 'default', ownerReferences, labels },
      },
      'configmaps',
    );
}

for (let index = 0; index < resources; index++) await create(nameOf(index), childrenOfEach);
await create('tree', treeSize);

/** Records, in the page, when texts are first shown and how long tasks take. */
function observe(texts: readonly string[]): void {
  const state = { shown: {} as Record<string, number>, longest: 0 };
  Object.assign(globalThis, { bench: state });
  const look = () => {
    const text = document.body?.innerText ?? '';
    for (const each of texts) if (text.includes(each)) state.shown[each] ??= performance.now();
    if (texts.some((each) => state.shown[each] === undefined)) requestAnimationFrame(look);
  };
  look();
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) state.longest = Math.max(state.longest, duration);
  }).observe({ type: 'longtask', buffered: true });
}

interface PageFigures {
  readonly bench: { readonly shown: Readonly<Record<string, number>>; longest: number };
}

/** Time that the page has spent in scripts: unlike the length of tasks, it does not depend on other processes. */
async function scriptMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN) * 1_000;
}

const rows: (readonly [string, number, number])[] = [];
const browser = await launchBrowser();
try {
  // The files are bundled with the first request.
  await (await openConsole(browser, cluster.url)).untilText('thing');
  const counted = `Resources ${resources + 1}`;
  {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.addInitScript(observe, ['thing', counted]);
    await page.goto(cluster.url);
    await page.getByText(counted).first().waitFor();
    await page.waitForFunction(
      (text) => (globalThis as unknown as PageFigures).bench.shown[text] !== undefined,
      counted,
    );
    const { shown } = await page.evaluate(() => (globalThis as unknown as PageFigures).bench);
    rows.push(['overview, first content', shown.thing ?? Number.NaN, 300]);
    rows.push(['overview, all resources counted', shown[counted] ?? Number.NaN, 2_000]);
    for (const [what, hash] of [
      ['overview', '#/'],
      ['resources', '#/resources'],
    ] as const) {
      await page.evaluate((next) => {
        location.hash = next;
      }, hash);
      await page.waitForTimeout(1_000);
      await page.evaluate(() => {
        (globalThis as unknown as PageFigures).bench.longest = 0;
      });
      const metrics = await context.newCDPSession(page);
      await metrics.send('Performance.enable');
      const before = await scriptMs(metrics);
      for (let second = 0, index = 0; second < changeSeconds; second++) {
        const next = performance.now() + 1_000;
        for (let count = 0; count < changesPerSecond; count++, index++)
          await cluster.apply(
            thingWithChildren(nameOf(index), childrenOfEach, what === 'resources'),
            'things',
          );
        await page.waitForTimeout(Math.max(0, next - performance.now()));
      }
      const { longest } = await page.evaluate(() => (globalThis as unknown as PageFigures).bench);
      const cpuMs = (await scriptMs(metrics)) - before;
      const load = `${what}, ${changesPerSecond} changes a second`;
      rows.push([`${load}, longest task`, longest, 100]);
      rows.push([`${load}, script time of a second`, cpuMs / changeSeconds, 250]);
    }
    await context.close();
  }
  for (const [what, name, nodes] of [
    ['a resource, its tree', nameOf(7), childrenOfEach + 1],
    [`a tree of ${treeSize} objects`, 'tree', treeSize + 1],
  ] as const) {
    const app = await openConsole(browser, `${cluster.url}#/resources`);
    await app.untilText(counted);
    const hash = `#/resources/example.com/v1/Thing/default/${name}`;
    const startMs = performance.now();
    await app.go(hash);
    await app.page.waitForFunction(
      (count) => document.querySelectorAll('.tree .node').length >= count,
      Math.min(nodes, 11),
    );
    rows.push([`${what}, opened`, performance.now() - startMs, 2_000]);
    if (nodes > 20) {
      const ms = await app.page.evaluate(async (count) => {
        const start = performance.now();
        for (const button of document.querySelectorAll('button'))
          if (button.textContent === 'Show all objects') button.click();
        while (document.querySelectorAll('.tree .node').length < count)
          await new Promise((resolve) => requestAnimationFrame(resolve));
        // Drawn: the next frame has begun.
        await new Promise((resolve) => requestAnimationFrame(resolve));
        return performance.now() - start;
      }, nodes);
      rows.push([`${what}, drawn`, ms, 1_000]);
    }
    await app.close();
  }
} finally {
  await browser.close();
  await cluster.close();
}

console.log(`${resources} resources with ${childrenOfEach} children each\n`);
console.log('| what | ms | target |\n| --- | ---: | ---: |');
for (const [what, ms, target] of rows) console.log(`| ${what} | ${Math.round(ms)} | ${target} |`);
