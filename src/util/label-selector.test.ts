import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type LabelRequirement, matchesSelector } from './label-selector.ts';

const labels = { app: 'web', tier: 'front' };

describe('util/label-selector', () => {
  const pairs = [
    [{}, true],
    [{ app: 'web' }, true],
    [{ app: 'web', tier: 'front' }, true],
    [{ app: 'db' }, false],
    [{ zone: '' }, false],
  ] as const;
  for (const [matchLabels, expected] of pairs) {
    test(`${JSON.stringify(matchLabels)} ${expected ? 'selects' : 'does not select'}`, () => {
      assert.equal(matchesSelector({ matchLabels, matchExpressions: [] }, labels), expected);
    });
  }

  const requirements: readonly (readonly [LabelRequirement, boolean])[] = [
    [{ key: 'app', operator: 'In', values: ['web', 'db'] }, true],
    [{ key: 'app', operator: 'In', values: ['db'] }, false],
    [{ key: 'zone', operator: 'In', values: ['a'] }, false],
    [{ key: 'app', operator: 'NotIn', values: ['web'] }, false],
    [{ key: 'zone', operator: 'NotIn', values: ['a'] }, true],
    [{ key: 'app', operator: 'Exists', values: [] }, true],
    [{ key: 'zone', operator: 'Exists', values: [] }, false],
    [{ key: 'app', operator: 'DoesNotExist', values: [] }, false],
    [{ key: 'zone', operator: 'DoesNotExist', values: [] }, true],
  ];
  for (const [requirement, expected] of requirements) {
    const { key, operator, values } = requirement;
    test(`${key} ${operator} [${values}] ${expected ? 'selects' : 'does not select'}`, () => {
      const selector = { matchLabels: {}, matchExpressions: [requirement] };
      assert.equal(matchesSelector(selector, labels), expected);
    });
  }

  test('an object without labels is selected by what asks for none', () => {
    assert.equal(matchesSelector({ matchLabels: {}, matchExpressions: [] }, undefined), true);
    assert.equal(
      matchesSelector({ matchLabels: { app: 'web' }, matchExpressions: [] }, undefined),
      false,
    );
  });

  test('what every object inherits is no label', () => {
    const exists = { key: 'constructor', operator: 'Exists', values: [] } as const;
    assert.equal(matchesSelector({ matchLabels: {}, matchExpressions: [exists] }, labels), false);
  });
});
