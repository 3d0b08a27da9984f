import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDataObject } from './data-kinds.ts';

const claims = { volumeClaimTemplates: [{ metadata: { name: 'data' } }] };
const policy = (whenDeleted: string) => ({
  persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled: 'Retain' },
});

describe('definition/data-kinds', () => {
  const cases: readonly (readonly [string, string, unknown, boolean])[] = [
    ['v1', 'PersistentVolumeClaim', {}, true],
    ['v1', 'PersistentVolume', {}, true],
    ['v1', 'Namespace', {}, true],
    ['v1', 'ConfigMap', {}, false],
    ['v1', 'Secret', {}, false],
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', {}, true],
    ['snapshot.storage.k8s.io/v1', 'VolumeSnapshot', {}, true],
    ['snapshot.storage.k8s.io/v1beta1', 'VolumeSnapshotContent', {}, true],
    ['snapshot.storage.k8s.io/v1', 'VolumeSnapshotClass', {}, false],
    ['groupsnapshot.storage.k8s.io/v1beta1', 'VolumeGroupSnapshot', {}, true],
    ['groupsnapshot.storage.k8s.io/v1beta1', 'VolumeGroupSnapshotContent', {}, true],
    ['example.com/v1', 'PersistentVolumeClaim', {}, false],
    ['apps/v1', 'StatefulSet', claims, false],
    ['apps/v1', 'StatefulSet', { ...claims, ...policy('Retain') }, false],
    ['apps/v1', 'StatefulSet', { ...claims, ...policy('Delete') }, true],
    ['apps/v1', 'StatefulSet', policy('Delete'), false],
    ['apps/v1', 'StatefulSet', undefined, false],
    ['apps/v1', 'Deployment', { ...claims, ...policy('Delete') }, false],
  ];
  for (const [apiVersion, kind, spec, expected] of cases) {
    test(`${kind} of ${apiVersion} with ${JSON.stringify(spec)} ${expected ? 'holds' : 'does not hold'} data`, () => {
      const object = { apiVersion, kind, metadata: { name: 'a' }, spec };
      assert.equal(isDataObject(object), expected);
    });
  }
});
