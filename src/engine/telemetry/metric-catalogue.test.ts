import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type MetricSpec, metricCatalogue, seriesOf } from './metric-catalogue.ts';

const all: readonly MetricSpec[] = Object.values(metricCatalogue);

describe('telemetry/metric-catalogue', () => {
  test('no name is there twice', () => {
    assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  });

  for (const { name, type, help, labels, values = {}, bucketsSeconds } of all) {
    test(`${name} is named and described as Prometheus wants it`, () => {
      assert.match(
        name,
        /^(homeostat|controller_runtime|workqueue|rest_client|leader_election)_[a-z_]+$/,
      );
      assert.equal(name.endsWith('_total'), type === 'counter');
      if (type === 'histogram') assert.match(name, /_seconds$/);
      assert.equal(bucketsSeconds !== undefined, type === 'histogram');
      assert.match(help, /^[A-Z0-9].*[^.]$/);
      for (const label of Object.keys(values)) assert.ok(labels.includes(label), label);
      for (const label of labels) {
        assert.ok(
          !['namespace', 'resource', 'uid', 'key'].includes(label),
          'a label without bound',
        );
      }
    });
  }

  test('series are all combinations of the known values', () => {
    const spec = { name: 'n', help: 'h', labels: ['a', 'b', 'c'], values: { b: ['1', '2'] } };
    assert.deepEqual(seriesOf(spec, { a: 'x', c: 'y' }), [
      ['x', '1', 'y'],
      ['x', '2', 'y'],
    ]);
    assert.deepEqual(seriesOf({ name: 'n', help: 'h' }), [[]]);
    assert.throws(() => seriesOf(spec, { a: 'x' }), /Label "c" of n/);
  });
});
