import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMetricRegistry } from '#telemetry';
import { type MetricSpec, metricCatalogue } from '#telemetry/roles.ts';
import { parseExposition } from '../support/exposition.ts';

const specs: readonly MetricSpec[] = Object.values(metricCatalogue);
const nasty = 'a "quoted" \\ path\nand a line';

describe('telemetry/exposition', () => {
  test('every metric of the catalogue is exposed as the format wants it, whatever its labels hold', async () => {
    const registry = createMetricRegistry();
    for (const spec of specs) {
      const labels = spec.labels.map((label) => spec.values?.[label]?.[0] ?? nasty);
      if (spec.type === 'counter') registry.counter(spec).increment(labels, 2);
      else if (spec.type === 'gauge') registry.gauge(spec).set(0.25, labels);
      else registry.histogram(spec).observe(0.25, labels);
    }
    const families = parseExposition(await registry.expose());
    for (const spec of specs) {
      const family = families.find(({ name }) => name === spec.name);
      assert.equal(family?.type, spec.type, spec.name);
      assert.ok(family.samples.length > 0, spec.name);
      const isFree = (label: string) => spec.values?.[label] === undefined;
      const freeLabels = spec.labels.filter(isFree);
      for (const label of freeLabels) assert.equal(family.samples[0]?.labels[label], nasty);
    }
  });

  for (const [what, text] of [
    ['a sample without a type', 'a 1\n'],
    ['a value that is no number', '# HELP a A\n# TYPE a gauge\na x\n'],
    ['a series twice', '# HELP a A\n# TYPE a gauge\na{b="1"} 1\na{b="1"} 2\n'],
    [
      'a metric in two places',
      '# HELP a A\n# TYPE a gauge\na 1\n# HELP a A\n# TYPE a gauge\na 2\n',
    ],
    [
      'a histogram without its last bucket',
      '# HELP h H\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_sum 1\nh_count 1\n',
    ],
    ['an open label', '# HELP a A\n# TYPE a gauge\na{b="1} 1\n'],
    ['a missing line feed', '# HELP a A\n# TYPE a gauge\na 1'],
  ] as const) {
    test(`the parser of these tests rejects ${what}`, () => {
      assert.throws(() => parseExposition(text));
    });
  }
});
