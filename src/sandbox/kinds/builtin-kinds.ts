import { FieldTypeBuilder, type MergeComponents } from '../apply/field-type-builder.ts';
import { type DroppedZeros, GoTypeBuilder } from '../schema/go-type-builder.ts';
import { patchSchemaOf } from '../strategic/item-order.ts';
import { type BuiltinRules, builtinKind } from './builtin-kind.ts';
import { leaseRules, namespaceRules, serviceAccountRules } from './cluster-kinds.ts';
import { configMapRules, secretRules } from './data-kinds.ts';
import { eventRules, newEventRules } from './event-kinds.ts';
import {
  endpointSliceRules,
  endpointsRules,
  ingressClassRules,
  ingressRules,
  networkPolicyRules,
} from './network-kinds.ts';
import { podRules } from './pod-kind.ts';
import {
  controllerRevisionRules,
  limitRangeRules,
  nodeRules,
  priorityClassRules,
  quotaRules,
} from './policy-kinds.ts';
import {
  clusterRoleBindingRules,
  clusterRoleRules,
  roleBindingRules,
  roleRules,
} from './rbac-kinds.ts';
import { podTemplateRules, replicationControllerRules } from './replication-kinds.ts';
import { reviewKinds } from './review-kinds.ts';
import { autoscalerRules, disruptionBudgetRules } from './scaling-kinds.ts';
import type { ResourceNames, ServedKind } from './served-kind.ts';
import { serviceRules } from './service-kind.ts';
import { cronJobRules, daemonSetRules, statefulSetRules } from './stateful-kinds.ts';
import { claimRules, storageClassRules, volumeRules } from './storage-kinds.ts';
import { mutatingWebhookRules, validatingWebhookRules } from './webhook-kinds.ts';
import { deploymentRules, jobRules, replicaSetRules } from './workload-kinds.ts';

/** The documents of the built-in kinds, from a real server. */
export interface BuiltinSchemas {
  /** OpenAPI v3 components by name. */
  readonly components: MergeComponents;
  /** The component names of kinds: `v1/ConfigMap` -> `io.k8s.api.core.v1.ConfigMap`. */
  readonly roots: Readonly<Record<string, string>>;
  readonly droppedZeros: DroppedZeros;
}

/** The rules of the kinds that the sandbox models. */
const simpleKinds: readonly BuiltinRules[] = [
  configMapRules,
  endpointsRules,
  eventRules,
  limitRangeRules,
  namespaceRules,
  nodeRules,
  claimRules,
  volumeRules,
  podRules,
  podTemplateRules,
  replicationControllerRules,
  quotaRules,
  secretRules,
  serviceAccountRules,
  serviceRules,
  controllerRevisionRules,
  daemonSetRules,
  deploymentRules,
  replicaSetRules,
  statefulSetRules,
  newEventRules,
  ...reviewKinds,
  autoscalerRules,
  cronJobRules,
  jobRules,
  ingressClassRules,
  ingressRules,
  networkPolicyRules,
  disruptionBudgetRules,
  clusterRoleBindingRules,
  clusterRoleRules,
  roleBindingRules,
  roleRules,
  storageClassRules,
  priorityClassRules,
  leaseRules,
  endpointSliceRules,
  validatingWebhookRules,
  mutatingWebhookRules,
];

/** The names of these kinds. */
export function modelledNames(): readonly ResourceNames[] {
  return simpleKinds.map(({ names }) => names);
}

interface BuiltinKindsOptions {
  readonly schemas: BuiltinSchemas;
  readonly now: () => string;
  /** Kinds whose rules other folders define. */
  readonly more?: readonly BuiltinRules[];
}

/** All kinds that are served without a CRD. */
export function builtinKinds({
  schemas,
  now,
  more = [],
}: BuiltinKindsOptions): readonly ServedKind[] {
  const { components, roots, droppedZeros } = schemas;
  const fieldTypes = new FieldTypeBuilder(components);
  const goTypes = new GoTypeBuilder(components, droppedZeros);
  return [...simpleKinds, ...more].map((rules) => {
    const { group, version, kind } = rules.names;
    const key = `${group === '' ? version : `${group}/${version}`}/${kind}`;
    const root = roots[key];
    if (root === undefined)
      throw new Error(`Expected the schema of ${key} among the built-in ones`);
    const reference = { $ref: `#/components/schemas/${root}` };
    return builtinKind({
      rules,
      // Most kinds are never used: the builders build a type when it is asked for, once.
      fieldType: () => fieldTypes.typeOf(reference),
      goType: () => goTypes.component(root),
      patchSchema: patchSchemaOf(components, reference),
      openApi: { name: root, schema: components[root] ?? {} },
      now,
    });
  });
}
