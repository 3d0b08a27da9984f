import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OwnerReference } from '../../util/kube-object.ts';
import { isOurs, ownerText } from './ownership.ts';

const owner = { definition: 'podset', ownerUid: 'u1' };
const labels = {
  'app.kubernetes.io/managed-by': 'homeostat',
  'homeostat.dev/definition': 'podset',
  'homeostat.dev/owner-uid': 'u1',
};
const ours = ['homeostat/podset'];

function controller(uid: string): OwnerReference {
  return { apiVersion: 'v1', kind: 'PodSet', name: 'a', uid, controller: true };
}

describe('reconcile/ownership', () => {
  const rows = [
    ['labels and controller reference', labels, [controller('u1')], [], true],
    ['labels and an apply of ours, without a controller', labels, [], ours, true],
    ['controller reference and an apply of ours', {}, [controller('u1')], ours, true],
    ['labels alone', labels, [], [], false],
    ['labels, with the apply of another definition', labels, [], ['homeostat/other'], false],
    ['a controller reference alone', {}, [controller('u1')], [], false],
    ['an apply of ours alone', {}, [], ours, false],
    [
      'labels and an apply of ours, but another controller',
      labels,
      [controller('u2')],
      ours,
      false,
    ],
    [
      'the labels of another owner',
      { ...labels, 'homeostat.dev/owner-uid': 'u2' },
      [controller('u2')],
      ours,
      false,
    ],
    [
      'the labels of another definition',
      { ...labels, 'homeostat.dev/definition': 'other' },
      [controller('u1')],
      [],
      false,
    ],
    [
      'labels and an owner that is no controller',
      labels,
      [{ ...controller('u1'), controller: false }],
      [],
      false,
    ],
  ] as const;
  for (const [what, itsLabels, ownerReferences, appliedBy, expected] of rows) {
    test(`${what}: ${expected ? 'ours' : 'not ours'}`, () => {
      const metadata = { name: 'x', labels: itsLabels, ownerReferences };
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
      assert.equal(isOurs({ object, appliedBy }, owner), expected);
    });
  }

  test('names the controller, else the definition, else the manager, else nobody', () => {
    const text = (metadata: object) =>
      ownerText({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...metadata } });
    assert.equal(text({ labels, ownerReferences: [controller('u1')] }), 'PodSet "a"');
    assert.equal(text({ labels }), 'another resource of definition "podset"');
    assert.equal(text({ labels: { 'app.kubernetes.io/managed-by': 'Helm' } }), '"Helm"');
    assert.equal(text({}), 'nobody');
  });
});
