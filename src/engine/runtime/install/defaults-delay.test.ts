import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mutatingPolicyGvk } from '#compile';
import type { LocatedDefinition } from '#definition';
import { waitsForSchema } from './defaults-delay.ts';

function definition(source: 'crd' | 'for', group: string, defaults: readonly unknown[] = [{}]) {
  const kind = { source, gvk: { group, version: 'v1', kind: 'Thing' } };
  return { definition: { kind, admission: { defaults } } } as unknown as LocatedDefinition;
}

describe('runtime/defaults-delay', () => {
  test('the first defaults of a kind wait, unless the API server has the kind itself', () => {
    assert.equal(waitsForSchema(definition('crd', 'example.com'), []), true);
    assert.equal(waitsForSchema(definition('for', 'example.com'), []), true);
    assert.equal(waitsForSchema(definition('for', ''), []), false);
    assert.equal(waitsForSchema(definition('for', 'apps'), []), false);
    assert.equal(waitsForSchema(definition('crd', 'apps'), []), true);
    assert.equal(waitsForSchema(definition('crd', 'example.com', []), []), false);
    assert.equal(waitsForSchema(definition('crd', 'example.com'), [mutatingPolicyGvk]), false);
  });
});
