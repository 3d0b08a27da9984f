import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { assertAccessible, launchBrowser, openConsole } from './support/browser.ts';
import { condition, serveCluster, thing } from './support/served-cluster.ts';
import { withThings } from './support/with-things.ts';

const hostile = '<img src=x onerror="document.title=1">';

describe('browser/states', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  test('an empty cluster says what to do', async () => {
    const cluster = await serveCluster();
    const app = await openConsole(browser, cluster.url);
    await app.untilText('No definitions');
    await assertAccessible(app, 'empty');
    assert.deepEqual(app.problems, []);
    await app.close();
    await cluster.close();
  });

  test('markup in messages and Events is text', async () => {
    await withThings(async (cluster) => {
      await cluster.apply(thing('markup', false, hostile), 'things');
      const app = await openConsole(browser, cluster.url);
      await app.untilText(hostile);
      assert.equal(await app.page.locator('main img').count(), 0);
      assert.deepEqual(app.problems, []);
      await app.close();
    });
  });

  test('values of a Secret are masked in every answer until they are asked for', async () => {
    await withThings(async (cluster) => {
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'pass', namespace: 'default' },
        data: { key: 'c2VjcmV0' },
      };
      await cluster.apply(secret, 'secrets');
      const child = {
        id: 'pass',
        apiVersion: 'v1',
        kind: 'Secret',
        namespace: 'default',
        name: 'pass',
        state: 'Ready',
        message: '',
      };
      const owner = thing('owner', true);
      await cluster.apply(
        {
          ...owner,
          status: { conditions: [condition('Ready', 'True', 'AllReady')], children: [child] },
        },
        'things',
      );
      const app = await openConsole(browser, cluster.url);
      const bodies: string[] = [];
      app.page.on('response', (response) => {
        void response.text().then(
          (body) => bodies.push(body),
          () => undefined,
        );
      });
      await app.go('#/resources/example.com/v1/Thing/default/owner');
      await app.untilText('owner');
      const uid = await app.page.evaluate(async (path) => {
        const response = await fetch('api/request', {
          method: 'POST',
          body: JSON.stringify({ method: 'GET', path }),
        });
        return (await response.json()).body.metadata.uid as string;
      }, '/apis/example.com/v1/namespaces/default/things/owner');
      const ownerReferences = [
        { apiVersion: 'example.com/v1', kind: 'Thing', name: 'owner', uid, controller: true },
      ];
      await cluster.apply(
        { ...secret, metadata: { ...secret.metadata, ownerReferences } },
        'secrets',
      );
      await app.page.locator('.tree a', { hasText: 'pass' }).click();
      await app.page.getByRole('link', { name: 'Live' }).click();
      await app.untilText(/masked, 8 characters/);
      assert.doesNotMatch(bodies.join('\n'), /c2VjcmV0/);
      await app.page.getByRole('button', { name: 'Show the values' }).click();
      await app.untilText(/c2VjcmV0/);
      // Another page masks it again.
      await app.go('#/');
      await app.page.goBack();
      await app.untilText(/masked, 8 characters/);
      await app.close();
    });
  });

  test('a read-only console offers no action, and its server rejects writes', async () => {
    await withThings(
      async (cluster) => {
        await cluster.apply(thing('one', true), 'things');
        const app = await openConsole(
          browser,
          `${cluster.url}#/resources/example.com/v1/Thing/default/one`,
        );
        await app.untilText('default/one');
        await app.untilText('read-only');
        assert.equal(await app.page.getByRole('button', { name: 'Pause' }).count(), 0);
        const status = await app.page.evaluate(async () => {
          const path = '/apis/example.com/v1/namespaces/default/things/one';
          const init = { method: 'POST', body: JSON.stringify({ method: 'DELETE', path }) };
          return (await fetch('api/request', init)).status;
        });
        assert.equal(status, 403);
        await app.close();
      },
      { canEdit: false },
    );
  });

  test('of 2,000 resources only rows in the window are drawn, and changes arrive', async (context) => {
    await withThings(async (cluster) => {
      const count = 2_000;
      const nameOf = (index: number) => `thing-${String(index).padStart(4, '0')}`;
      for (let index = 0; index < count; index++)
        await cluster.apply(thing(nameOf(index), true), 'things');
      const app = await openConsole(browser, `${cluster.url}#/resources`);
      await app.untilText(`${count} resources, ${count} ready`);
      assert.ok((await app.page.locator('tbody tr[data-row]').count()) < 100);
      await app.page.evaluate(() => {
        const tasks: number[] = [];
        Object.assign(globalThis, { tasks });
        new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) tasks.push(duration);
        }).observe({ entryTypes: ['longtask'] });
      });
      for (let index = 0; index < 250; index++) {
        await cluster.apply(thing(nameOf(index), false, 'Changed'), 'things');
        if (index % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await app.untilText(`${count} resources, ${count - 250} ready`);
      const tasks = await app.page.evaluate(
        () => (globalThis as unknown as { tasks: number[] }).tasks,
      );
      context.diagnostic(`longest task: ${Math.round(Math.max(0, ...tasks))} ms`);
      await app.page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      await app.untilText(`default/${nameOf(count - 1)}`);
      await app.close();
    });
  });

  test('a tree of 500 objects is drawn', async (context) => {
    await withThings(async (cluster) => {
      const child = {
        id: 'c',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace: 'default',
        name: 'c-0',
        state: 'Ready',
        message: '',
      };
      const owner = thing('owner', true);
      await cluster.apply(
        {
          ...owner,
          status: { conditions: [condition('Ready', 'True', 'AllReady')], children: [child] },
        },
        'things',
      );
      const app = await openConsole(
        browser,
        `${cluster.url}#/resources/example.com/v1/Thing/default/owner`,
      );
      await app.untilText('default/owner');
      const uid = await app.page.evaluate(async () => {
        const path = '/apis/example.com/v1/namespaces/default/things/owner';
        const init = { method: 'POST', body: JSON.stringify({ method: 'GET', path }) };
        return (await (await fetch('api/request', init)).json()).body.metadata.uid as string;
      });
      const ownerReferences = [
        { apiVersion: 'example.com/v1', kind: 'Thing', name: 'owner', uid, controller: true },
      ];
      for (let index = 0; index < 500; index++)
        await cluster.apply(
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: `c-${index}`, namespace: 'default', ownerReferences },
          },
          'configmaps',
        );
      const button = app.page.getByRole('button', { name: 'Show all objects' });
      await button.waitFor();
      await app.untilText(/488 not shown/);
      const tookMs = await button.evaluate(async (element) => {
        const start = performance.now();
        (element as HTMLElement).click();
        while (document.querySelectorAll('.tree .node').length < 501)
          await new Promise((resolve) => requestAnimationFrame(resolve));
        return performance.now() - start;
      });
      context.diagnostic(`501 nodes: ${Math.round(tookMs)} ms`);
      await app.close();
    });
  });
});
