import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFieldQuery } from './field-query.ts';

const object = { metadata: { name: 'a', namespace: 'ns' }, type: 'x,y' };

describe('sandbox/selector/field-query', () => {
  for (const [query, matches] of [
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name==a,metadata.namespace!=other', true],
    ['metadata.name!=a', false],
    ['type=x\\,y', true],
    ['spec.none=', true],
  ] as const) {
    test(`"${query}" ${matches ? 'matches' : 'does not match'}`, () => {
      const { matches: found } = parseFieldQuery(query, ['type', 'spec.none']);
      assert.equal(found(object), matches);
    });
  }

  test('a field that the kind does not support is rejected', () => {
    assert.throws(() => parseFieldQuery('spec.x=1', []), {
      message: 'field label not supported: spec.x',
    });
  });

  test('reports the only name that can match', () => {
    assert.equal(parseFieldQuery('metadata.name=a', []).name, 'a');
    assert.equal(parseFieldQuery('metadata.name!=a', []).name, undefined);
  });
});
