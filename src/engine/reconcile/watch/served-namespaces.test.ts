import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { servesNamespace } from './resource-watch.ts';

describe('reconcile/watch/served-namespaces', () => {
  for (const [served, namespace, expected] of [
    [undefined, 'any', true],
    [{ exclude: [] }, 'any', true],
    [{ include: ['team-*'], exclude: [] }, 'team-a', true],
    [{ include: ['team-*'], exclude: [] }, 'default', false],
    [{ include: [], exclude: [] }, 'default', false],
    [{ exclude: ['kube-*'] }, 'kube-system', false],
    [{ exclude: ['kube-*'] }, 'default', true],
    [{ include: ['team-*'], exclude: ['team-x'] }, 'team-x', false],
    [{ include: ['team-*'], exclude: [] }, '', true],
  ] as const) {
    test(`${JSON.stringify(served)} ${expected ? 'serves' : 'leaves'} "${namespace}"`, () => {
      assert.equal(servesNamespace(served)(namespace), expected);
    });
  }

  for (const [served, expected] of [
    [undefined, false],
    [{ include: ['*'], exclude: [] }, false],
    [{ include: ['homeostat-*'], exclude: [] }, false],
    [{ include: ['*', 'homeostat-system'], exclude: [] }, true],
    [{ include: ['homeostat-system'], exclude: ['homeostat-*'] }, false],
  ] as const) {
    test(`${JSON.stringify(served)} ${expected ? 'serves' : 'leaves'} the namespace of the runtime`, () => {
      const serves = servesNamespace(served, new Set(['homeostat-system']));
      assert.equal(serves('homeostat-system'), expected);
    });
  }
});
