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
});
