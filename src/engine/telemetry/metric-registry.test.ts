import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMetricRegistry } from './metric-registry.ts';

describe('telemetry/metric-registry', () => {
  test('a name asked for twice is one metric', async () => {
    const registry = createMetricRegistry();
    const options = { name: 'homeostat_things_total', help: 'Things', labels: ['kind'] };
    registry.counter(options).increment(['a']);
    registry.counter(options).increment(['a'], 2);
    assert.match(await registry.expose(), /^homeostat_things_total\{kind="a"\} 3$/m);
  });

  test('a removed series is no longer exposed', async () => {
    const registry = createMetricRegistry();
    const gauge = registry.gauge({ name: 'depth', help: 'Depth', labels: ['name'] });
    gauge.set(4, ['one']);
    gauge.set(5, ['two']);
    gauge.remove(['one']);
    const text = await registry.expose();
    assert.doesNotMatch(text, /name="one"/);
    assert.match(text, /^depth\{name="two"\} 5$/m);
  });

  test('histograms expose their buckets in seconds', async () => {
    const registry = createMetricRegistry();
    registry.histogram({ name: 'took_seconds', help: 'Took', bucketsSeconds: [1, 2] }).observe(1.5);
    const text = await registry.expose();
    assert.match(text, /^took_seconds_bucket\{le="1"\} 0$/m);
    assert.match(text, /^took_seconds_bucket\{le="2"\} 1$/m);
  });

  test('two registries share nothing', async () => {
    createMetricRegistry().counter({ name: 'same_total', help: 'Same' }).increment();
    assert.equal((await createMetricRegistry().expose()).trim(), '');
  });

  test('series whose label values are all known are there from the start', async () => {
    const registry = createMetricRegistry();
    const values = { result: ['good', 'bad'] };
    registry.counter({ name: 'ends_total', help: 'Ends', labels: ['result'], values });
    const spec = { name: 'took_seconds', help: 'Took', labels: ['result'], values };
    registry.histogram({ ...spec, bucketsSeconds: [1] });
    registry.counter({ name: 'open_total', help: 'Open', labels: ['kind'] });
    const text = await registry.expose();
    assert.match(text, /^ends_total\{result="bad"\} 0$/m);
    assert.match(text, /^took_seconds_count\{result="good"\} 0$/m);
    assert.doesNotMatch(text, /^open_total/m);
  });

  test('forgets all that is about a definition, and nothing else', async () => {
    const registry = createMetricRegistry();
    const labels = ['definition', 'result'];
    const counter = registry.counter({ name: 'a_total', help: 'A', labels });
    const gauge = registry.gauge({ name: 'b', help: 'B', labels: ['name'] });
    const histogram = registry.histogram({ name: 'c_seconds', help: 'C', labels: ['definition'] });
    for (const definition of ['one', 'two']) {
      counter.increment([definition, 'good']);
      counter.increment([definition, 'bad']);
      gauge.set(1, [definition]);
      histogram.initialize([definition]);
      histogram.observe(1, [definition]);
    }
    await registry.removeSeries('definition', 'one');
    const text = await registry.expose();
    assert.doesNotMatch(text, /definition="one"/);
    assert.match(text, /^b\{name="one"\} 1$/m);
    for (const left of [
      'a_total{definition="two",result="bad"} 1',
      'c_seconds_count{definition="two"} 1',
    ]) {
      assert.ok(text.includes(left), left);
    }
  });

  test('what is forgotten in one turn is searched once', async () => {
    const registry = createMetricRegistry();
    const counter = registry.counter({ name: 'a_total', help: 'A', labels: ['definition'] });
    const names = ['one', 'two', 'three'];
    for (const definition of names) counter.increment([definition]);
    const removals = ['one', 'two'].map((name) => registry.removeSeries('definition', name));
    assert.equal(new Set(removals).size, 1);
    await removals[0];
    const text = await registry.expose();
    const left = names.filter((name) => text.includes(`definition="${name}"`));
    assert.deepEqual(left, ['three']);
  });

  test('measures how late the event loop is', async () => {
    const registry = createMetricRegistry({ processMetrics: true });
    const text = await registry.expose();
    assert.match(text, /^homeostat_event_loop_delay_seconds\{quantile="0.99"\} [0-9.e-]+$/m);
    assert.match(text, /^process_cpu_seconds_total /m);
  });
});
