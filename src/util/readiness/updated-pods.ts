import type { KubeObject } from '../kube-object.ts';
import { numberAt, statusOf } from './status-reader.ts';

/**
 * Do all Pods of a workload have its newest template, according to its status? Other than readiness, it waits for Pods that a user or a
 * partition keeps at an earlier template. Kinds without Pods of several templates always have.
 */
export function hasOnlyUpdatedPods(object: KubeObject): boolean {
  const { apiVersion, kind, metadata } = object;
  if (!apiVersion.startsWith('apps/')) return true;
  const status = statusOf(object);
  const isObserved = numberAt(status, 'observedGeneration') >= (metadata.generation ?? 0);
  const count = (field: string) => numberAt(status, field);
  switch (kind) {
    case 'Deployment':
      return isObserved && count('updatedReplicas') >= count('replicas');
    case 'StatefulSet':
      return isObserved && (isOneRevision(status) || count('updatedReplicas') >= count('replicas'));
    case 'DaemonSet':
      return isObserved && count('updatedNumberScheduled') >= count('currentNumberScheduled');
    default:
      return true;
  }
}

function isOneRevision({ currentRevision, updateRevision }: ReturnType<typeof statusOf>): boolean {
  return updateRevision !== undefined && currentRevision === updateRevision;
}
