import { gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Kinds whose deletion deletes data, or everything that is stored in them. By group. */
const dataKinds: Readonly<Record<string, readonly string[]>> = {
  '': ['PersistentVolumeClaim', 'PersistentVolume', 'Namespace'],
  'apiextensions.k8s.io': ['CustomResourceDefinition'],
  'snapshot.storage.k8s.io': ['VolumeSnapshot', 'VolumeSnapshotContent'],
  'groupsnapshot.storage.k8s.io': ['VolumeGroupSnapshot', 'VolumeGroupSnapshotContent'],
};

/** Does the deletion of the object delete data, according to its kind (docs/definition/children.md#objects-that-hold-data)? */
export function isDataObject(object: KubeObject): boolean {
  const { group, kind } = gvkOf(object.apiVersion, object.kind);
  if (dataKinds[group]?.includes(kind) === true) return true;
  return group === 'apps' && kind === 'StatefulSet' && deletesClaims(object.spec);
}

/** Are the claims of a StatefulSet deleted with it? By default they stay. */
function deletesClaims(spec: unknown): boolean {
  if (!isJsonObject(spec)) return false;
  const { volumeClaimTemplates: claims, persistentVolumeClaimRetentionPolicy: policy } = spec;
  const hasClaims = Array.isArray(claims) && claims.length > 0;
  return hasClaims && isJsonObject(policy) && policy.whenDeleted === 'Delete';
}
