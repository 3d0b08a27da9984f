import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nearestName } from './did-you-mean.ts';

describe('util/nearest-name', () => {
  for (const [word, known, expected] of [
    ['replcas', ['replicas', 'paused'], 'replicas'],
    ['repilcas', ['replicas'], 'replicas'],
    ['Replicas', ['paused', 'replicas'], 'replicas'],
    ['tempalte', ['template', 'templates'], 'template'],
    ['labels', ['tables', 'label'], 'label'],
    ['conditions', ['contains'], undefined],
    ['image', ['name', 'port'], undefined],
    ['spce', ['spec'], 'spec'],
    ['ab', ['ba'], 'ba'],
    ['pot', ['port'], 'port'],
    ['a', ['ab'], 'ab'],
    ['A', ['b', 'a'], 'a'],
    ['b', ['a'], undefined],
    ['b', ['a', 'c', ''], undefined],
    ['', ['a'], undefined],
    ['ab', ['cd', 'a1c'], undefined],
    ['if', ['eq', 'lt', 'gt'], undefined],
    ['anything', [], undefined],
  ] as const) {
    test(`"${word}" among [${known}] suggests ${expected ?? 'nothing'}`, () => {
      assert.equal(nearestName(word, known), expected);
    });
  }

  test('of names equally near the first is suggested', () => {
    assert.equal(nearestName('port', ['ports', 'sport']), 'ports');
  });
});
