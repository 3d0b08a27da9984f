import builtin from './builtin-columns.generated.json' with { type: 'json' };
import type { RowPrinter } from './cell-values.ts';
import {
  admissionPolicyRow,
  ageRow,
  autoscalerRow,
  bindingRow,
  configMapRow,
  creationRow,
  eventRow,
  leaseRow,
  namespaceRow,
  newEventRow,
  nodeRow,
  policyBindingRow,
  priorityClassRow,
  quotaRow,
  secretRow,
  webhooksRow,
} from './cluster-cells.ts';
import {
  endpointSliceRow,
  endpointsRow,
  ingressClassRow,
  ingressRow,
  networkPolicyRow,
  serviceRow,
} from './network-cells.ts';
import { podRow } from './pod-cells.ts';
import { claimRow, storageClassRow, volumeRow } from './storage-cells.ts';
import type { ColumnDefinition, Printer } from './table-printer.ts';
import {
  controllerRevisionRow,
  cronJobRow,
  daemonSetRow,
  deploymentRow,
  disruptionBudgetRow,
  jobRow,
  podTemplateRow,
  replicaSetRow,
  replicationControllerRow,
  statefulSetRow,
} from './workload-cells.ts';

/** Row printers of kinds with columns of their own. */
const rows: Readonly<Record<string, RowPrinter>> = {
  'v1/ConfigMap': configMapRow,
  'v1/Endpoints': endpointsRow,
  'v1/Event': eventRow,
  'v1/Namespace': namespaceRow,
  'v1/Node': nodeRow,
  'v1/PersistentVolume': volumeRow,
  'v1/PersistentVolumeClaim': claimRow,
  'v1/Pod': podRow,
  'v1/PodTemplate': podTemplateRow,
  'v1/ReplicationController': replicationControllerRow,
  'v1/ResourceQuota': quotaRow,
  'v1/Secret': secretRow,
  'v1/Service': serviceRow,
  'v1/ServiceAccount': ageRow,
  'apps/v1/ControllerRevision': controllerRevisionRow,
  'apps/v1/DaemonSet': daemonSetRow,
  'apps/v1/Deployment': deploymentRow,
  'apps/v1/ReplicaSet': replicaSetRow,
  'apps/v1/StatefulSet': statefulSetRow,
  'autoscaling/v2/HorizontalPodAutoscaler': autoscalerRow,
  'batch/v1/CronJob': cronJobRow,
  'batch/v1/Job': jobRow,
  'coordination.k8s.io/v1/Lease': leaseRow,
  'discovery.k8s.io/v1/EndpointSlice': endpointSliceRow,
  'events.k8s.io/v1/Event': newEventRow,
  'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration': webhooksRow,
  'admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration': webhooksRow,
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy': admissionPolicyRow,
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding': policyBindingRow,
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy': admissionPolicyRow,
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding': policyBindingRow,
  'networking.k8s.io/v1/Ingress': ingressRow,
  'networking.k8s.io/v1/IngressClass': ingressClassRow,
  'networking.k8s.io/v1/NetworkPolicy': networkPolicyRow,
  'policy/v1/PodDisruptionBudget': disruptionBudgetRow,
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': bindingRow,
  'rbac.authorization.k8s.io/v1/RoleBinding': bindingRow,
  'scheduling.k8s.io/v1/PriorityClass': priorityClassRow,
  'storage.k8s.io/v1/StorageClass': storageClassRow,
};

/** The columns of a built-in kind (`apps/v1/Deployment`), from a real server. */
export function builtinPrinter(key: string): Printer {
  const row = rows[key];
  const kinds: Readonly<Record<string, readonly number[]>> = builtin.kinds;
  const numbers = row === undefined ? kinds['v1/LimitRange'] : kinds[key];
  const columns = (numbers ?? []).flatMap((number): readonly ColumnDefinition[] => {
    const column = builtin.columns[number];
    return column === undefined ? [] : [column];
  });
  return { columns, row: row ?? creationRow };
}
