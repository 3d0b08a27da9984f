import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createObjectDecoder } from '../../src/kube/cache/object-decoder.ts';
import { ObjectStore } from '../../src/kube/cache/object-store.ts';
import { gvkOf } from '../../src/util/gvk.ts';
import { evaluate } from '../support/compile/test-scope.ts';

/** What a server takes: it gives up at 10,000 levels. A stack may be smaller than that, and here surely is. */
const levels = 100_000;
const nested = (): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
const gvk = gvkOf('shop.example.com/v1', 'Thing');

function thing(name: string, spec: unknown) {
  return { metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '7' }, spec };
}

describe('attacks/nesting', () => {
  test('a relist of a kind with one resource that is nested deeper than the stack is brings all of them', () => {
    const faults: unknown[] = [];
    const store = new ObjectStore({ selects: () => true, onFault: (error) => faults.push(error) });
    const decode = createObjectDecoder({ freeze: true });
    for (const version of ['10', '11']) {
      const listing = store.startList();
      listing.add(version, [decode(thing('deep', nested()), gvk), decode(thing('flat', {}), gvk)]);
      listing.finish();
    }
    assert.deepEqual([store.size, faults], [2, []]);
  });

  for (const source of [
    'spec',
    '$json(spec)',
    '$string(spec)',
    '$hash(spec)',
    '$yaml(spec)',
    '$count(spec.**) > 0',
    'spec = other',
    'spec in [1, other]',
    '$distinct([spec, other])',
    '$merge([spec, other])',
  ]) {
    test(`${source}: its expressions end, and fail where they look at all of it`, async () => {
      const root = { spec: nested(), other: nested() };
      try {
        await evaluate(source, root);
      } catch (error) {
        assert.equal((error as Error).name, 'ExpressionError', String(error));
      }
    });
  }
});
