import type { ChildPlan } from '#compile';
import { groupKindKey } from '#util/gvk.ts';

/**
 * Kinds of which a new object replaces an old one without a loss: they hold no data, and no address that clients know. Of other kinds,
 * custom ones included, it is not known what their deletion takes away (volumes, databases, load balancers).
 */
const replaceableKinds: ReadonlySet<string> = new Set([
  '/ConfigMap',
  '/Pod',
  '/ReplicationController',
  '/Secret',
  'apps/DaemonSet',
  'apps/Deployment',
  'apps/ReplicaSet',
  'autoscaling/HorizontalPodAutoscaler',
  'batch/CronJob',
  'batch/Job',
  'networking.k8s.io/IngressClass',
  'networking.k8s.io/NetworkPolicy',
  'node.k8s.io/RuntimeClass',
  'policy/PodDisruptionBudget',
  'rbac.authorization.k8s.io/ClusterRole',
  'rbac.authorization.k8s.io/ClusterRoleBinding',
  'rbac.authorization.k8s.io/Role',
  'rbac.authorization.k8s.io/RoleBinding',
  'scheduling.k8s.io/PriorityClass',
  'storage.k8s.io/StorageClass',
]);

/** What to do about a change that the server does not accept on an existing object. */
export function immutableRemedy({ gvk, updateStrategy }: ChildPlan): string {
  const isReplaceable = replaceableKinds.has(groupKindKey(gvk));
  const isSet = updateStrategy.type === 'Recreate' || updateStrategy.type === 'RecreateIfImmutable';
  if (!isReplaceable || isSet) return 'revert the change';
  return 'revert the change, or set "updateStrategy: { type: Recreate }" on the child, so that the object is deleted and created again';
}
