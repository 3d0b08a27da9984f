import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { excessOf } from './json-scan.ts';

const limits = { fromLength: 0, maxCost: 1_000, maxDepth: 3 };

describe('util/json-scan', () => {
  test('maps, lists and fields cost more than their text', () => {
    assert.equal(excessOf('[{},{},{}]', limits), undefined);
    assert.equal(excessOf(`[${'{},'.repeat(20)}{}]`, limits), 'cost');
    assert.equal(excessOf(`[${'1,'.repeat(100)}1]`, limits), 'cost');
    assert.equal(excessOf(JSON.stringify('x'.repeat(2_000)), limits), 'cost');
  });

  test('depth is counted, not the number of maps and lists', () => {
    assert.equal(excessOf('[[[]],[[]],{"a":[]}]', limits), undefined);
    assert.equal(excessOf('[[{"a":[]}]]', limits), 'depth');
    assert.equal(excessOf('['.repeat(1_000_000), { ...limits, maxCost: 1e12 }), 'depth');
  });

  test('characters in strings cost nothing, also behind escapes and without an end', () => {
    for (const text of ['"[[[[{{{{"', '["\\\\", "\\"[[[[", "{{{{"]', '"[[[[', '"\\'])
      assert.equal(excessOf(text, limits), undefined, text);
    assert.equal(excessOf('["\\\\",[[[]]]]', limits), 'depth');
  });

  test('short texts are not scanned', () => {
    assert.equal(excessOf('[[[[]]]]', { ...limits, fromLength: 9 }), undefined);
    assert.equal(excessOf('[[[[]]]]', { ...limits, fromLength: 8 }), 'depth');
  });
});
