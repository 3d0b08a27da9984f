import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMetricRegistry, metricCatalogue } from '#telemetry';
import { SummedMetrics } from './summed-metrics.ts';

describe('runtime/members/summed-metrics', () => {
  test('gauges of members are added up, and a member that ends takes its part away', async () => {
    const registry = createMetricRegistry();
    const members = [new SummedMetrics(registry), new SummedMetrics(registry)];
    const [first, second] = members.map((each) => each.gauge(metricCatalogue.activeWorkers));
    first?.set(3, ['a']);
    second?.set(2, ['a']);
    first?.set(1, ['a']);
    second?.add(4, ['a']);
    const shown = async () =>
      /controller_runtime_active_workers\{controller="a"\} (\d+)/.exec(
        await registry.expose(),
      )?.[1];
    assert.equal(await shown(), '7');
    await members[1]?.removeSeries();
    assert.equal(await shown(), '1');
  });

  test('the state of a definition is not measured by member', async () => {
    const registry = createMetricRegistry();
    new SummedMetrics(registry).gauge(metricCatalogue.definitionProblems).set(3, ['a']);
    assert.doesNotMatch(await registry.expose(), /definition="a"/);
  });
});
