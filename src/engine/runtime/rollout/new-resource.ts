import type { KubeObject } from '#util/kube-object.ts';
import type { RevisionOperator } from '../revision-operator.ts';
import { revisionOf } from './resource-snapshot.ts';

/** Whether the resource has not run yet, with any revision. One with children has: its process was killed before it reported. */
export function isNewResource(
  { reportsRevisions, operator }: RevisionOperator,
  key: string,
  resource: KubeObject,
): boolean {
  const isUnreported = reportsRevisions && revisionOf(resource) === undefined;
  return isUnreported && !operator.hasChildrenOf(key);
}
