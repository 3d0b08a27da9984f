import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OwnerReference } from '#util/kube-object.ts';
import { definitionLabel, ownerUidLabel } from '#util/stored-names.ts';
import { claimsOf, ownerText } from './ownership-claims.ts';

const labels = {
  'app.kubernetes.io/managed-by': 'homeostat',
  'homeostat.dev/definition': 'podset',
  'homeostat.dev/owner-uid': 'u1',
};
const ours = ['homeostat/podset'];

function controller(uid: string): OwnerReference {
  return { apiVersion: 'v1', kind: 'PodSet', name: 'a', uid, controller: true };
}

describe('reconcile/ownership/owner', () => {
  const claimed = (metadata: object, appliedBy: readonly string[]) => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...metadata } };
    const claims = claimsOf({ object, cluster: undefined, appliedBy }, 'podset', 'u1');
    return Object.entries(claims).flatMap(([claim, isMade]) => (isMade ? [claim] : []));
  };
  for (const [what, metadata, appliedBy, expected] of [
    ['all labels', { labels }, [], ['isLabelled']],
    ['an apply of ours', {}, ours, ['isApplied']],
    ['a controller reference', { ownerReferences: [controller('u1')] }, [], ['isControlled']],
    ['the apply of another definition', {}, ['homeostat/other'], []],
    ['the labels of another owner', { labels: { ...labels, [ownerUidLabel]: 'u2' } }, [], []],
    ['the labels of another definition', { labels: { ...labels, [definitionLabel]: 'b' } }, [], []],
    ['another controller', { ownerReferences: [controller('u2')] }, [], []],
    [
      'an owner that is no controller',
      { ownerReferences: [{ ...controller('u1'), controller: false }] },
      [],
      [],
    ],
  ] as const) {
    test(`${what}: ${expected.join(', ') || 'claims nothing'}`, () => {
      assert.deepEqual(claimed(metadata, appliedBy), expected);
    });
  }

  test('names the controller, else the definition, else the manager, else no manager', () => {
    const text = (metadata: object) =>
      ownerText({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...metadata } });
    assert.equal(text({ labels, ownerReferences: [controller('u1')] }), 'PodSet "a"');
    assert.equal(text({ labels }), 'another resource of definition "podset"');
    assert.equal(text({ labels: { 'app.kubernetes.io/managed-by': 'Helm' } }), '"Helm"');
    assert.equal(text({}), 'no manager');
  });
});
