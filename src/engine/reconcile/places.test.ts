import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { differsInPlacesOnly, withoutPlaces, withPlace } from './places.ts';

describe('reconcile/places', () => {
  const message = (place?: string) => `${withPlace('copy "one": Missing', place)}; and 2 more`;

  for (const [what, desired, live, file, isSame] of [
    ['a moved line', message('a.yaml:2:3'), message('a.yaml:12:3'), 'a.yaml', true],
    ['a renamed file', message('a.yaml:2:3'), message('b.yml:2:3'), 'a.yaml', true],
    ['no place before', message('a.yaml:2:3'), message(), 'a.yaml', true],
    ['no place now', message(), message('a.json:2:3'), undefined, true],
    ['another text', message('a.yaml:2:3'), 'Other (a.yaml:2:3)', 'a.yaml', false],
    [
      'a place that a child reports',
      'Failed (main.py:1:2)',
      'Failed (main.py:3:4)',
      'a.yaml',
      false,
    ],
    [
      'a manifest that a child names',
      'Failed (values.yaml:1:2)',
      'Failed (values.yaml:3:4)',
      'a.yaml',
      false,
    ],
  ] as const)
    test(`${what} ${isSame ? 'is no' : 'is a'} change`, () =>
      assert.equal(differsInPlacesOnly(desired, live, file), isSame));

  test('only whole places of the file are left out', () => {
    const text = 'A (a.yaml:1:2), (a.yaml:x) (aayaml:1:2) (a.yaml:3:4)';
    assert.equal(withoutPlaces(text, 'a.yaml'), 'A, (a.yaml:x) (aayaml:1:2)');
    assert.equal(withoutPlaces(text, undefined), text);
  });
});
