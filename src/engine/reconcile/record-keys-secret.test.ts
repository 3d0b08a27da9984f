import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { isRecordKeys } from './record-keys-secret.ts';

describe('reconcile/record-keys-secret', () => {
  for (const [apiVersion, kind, name, expected] of [
    ['v1', 'Secret', 'homeostat-history-keys', true],
    ['v1', 'Secret', 'homeostat-conversion', true],
    ['v1', 'Secret', 'app', false],
    ['v1', 'Service', 'homeostat-conversion', false],
    ['apps/v1', 'Deployment', 'homeostat-conversion', false],
  ] as const)
    test(`${kind} "${name}" is ${expected ? '' : 'not '}one of the runtime`, () => {
      assert.equal(isRecordKeys(gvkOf(apiVersion, kind), name), expected);
    });
});
