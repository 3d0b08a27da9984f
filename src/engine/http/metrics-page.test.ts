import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { MetricsPage } from './metrics-page.ts';

/** A page of which each rendering ends when the test says so. */
function renderedPage() {
  const clock = new FakeClock();
  const renderings: PromiseWithResolvers<string>[] = [];
  const page = new MetricsPage({
    clock,
    render() {
      const rendering = Promise.withResolvers<string>();
      renderings.push(rendering);
      return rendering.promise;
    },
  });
  return { clock, page, renderings };
}

const textOf = async (page: Promise<Buffer>) => (await page).toString();

describe('http/metrics-page', () => {
  test('all who ask during a rendering share it, however long it takes', async () => {
    const { clock, page, renderings } = renderedPage();
    const first = page.read();
    await clock.advance(5_000);
    const others = [page.read(), page.read()];
    assert.equal(renderings.length, 1);
    renderings[0]?.resolve('one');
    assert.deepEqual(await Promise.all([first, ...others].map(textOf)), ['one', 'one', 'one']);
  });

  test('a text is kept for a second, and then rendered again', async () => {
    const { clock, page, renderings } = renderedPage();
    const first = page.read();
    renderings[0]?.resolve('one');
    await first;
    await clock.advance(999);
    assert.equal(await textOf(page.read()), 'one');
    await clock.advance(1);
    const second = page.read();
    renderings[1]?.resolve('two');
    assert.equal(await textOf(second), 'two');
    assert.equal(renderings.length, 2);
  });

  test('a rendering that fails is not kept', async () => {
    const { page, renderings } = renderedPage();
    const first = page.read();
    renderings[0]?.reject(new Error('no'));
    await assert.rejects(first, /no/);
    const second = page.read();
    renderings[1]?.resolve('two');
    assert.equal(await textOf(second), 'two');
  });
});
