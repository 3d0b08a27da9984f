import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField, withField } from '../json-fields.ts';
import { type FieldError, forbiddenField, invalidField } from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { admitPod, withDefaultTolerations, withPriority, withRequests } from './pod-admission.ts';
import { withDefaults, withPodSpecDefaults } from './pod-defaults.ts';
import { podSpecErrors } from './pod-spec-rules.ts';
import { resourceNames } from './served-kind.ts';
import { withSpec } from './workload-rules.ts';

/** The grace period that a node has to stop a pod. */
const podGraceSeconds = 30;

export const podRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'Pod',
    plural: 'pods',
    namespaced: true,
    shortNames: ['po'],
    categories: ['all'],
  }),
  hasStatus: true,
  hasGeneration: true,
  selectableFields: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'status.phase',
    'status.podIP',
  ],
  fillDefaults: (pod) =>
    withSpec(pod, (spec) =>
      withDefaults(withHostPorts(withRequests(withPodSpecDefaults(spec))), {
        enableServiceLinks: true,
      }),
    ),
  prepareCreate: admitPod,
  // No manager owns what admission adds.
  admit: (pod, before, objects) =>
    before === undefined ? withDefaultTolerations(withPriority(pod, objects)) : pod,
  prepareUpdate: (pod, before) => withDefaultTolerations(withOldPriority(pod, before)),
  validate: (pod) => podSpecErrors(objectField(pod, 'spec') ?? {}, 'spec'),
  validateUpdate: podUpdateErrors,
  gracePeriodSeconds(pod) {
    const spec = objectField(pod, 'spec') ?? {};
    // A pod that is not bound to a node is deleted at once.
    if (stringField(spec, 'nodeName') === undefined) return 0;
    const grace = spec.terminationGracePeriodSeconds;
    return typeof grace === 'number' ? grace : podGraceSeconds;
  },
};

/** The priority of a pod stays what it was when the pod was created. */
function withOldPriority(pod: JsonObject, before: JsonObject): JsonObject {
  const { priority, preemptionPolicy } = objectField(before, 'spec') ?? {};
  return withSpec(pod, (spec) => withDefaults(spec, { priority, preemptionPolicy }));
}

/** With hostNetwork, the ports of a pod are ports of its node. */
function withHostPorts(spec: JsonObject): JsonObject {
  if (spec.hostNetwork !== true) return spec;
  const containers = listField(spec, 'containers').map((container) => {
    const ports = isJsonObject(container) ? listField(container, 'ports') : [];
    if (!isJsonObject(container) || ports.length === 0) return container;
    return {
      ...container,
      ports: ports.map((port) =>
        isJsonObject(port) ? withDefaults(port, { hostPort: port.containerPort ?? 0 }) : port,
      ),
    };
  });
  return { ...spec, containers };
}

/** Images may change, tolerations be added, and gates be removed. */
function podUpdateErrors(pod: JsonObject, before: JsonObject): readonly FieldError[] {
  const [spec, old] = [objectField(pod, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
  // The simulated scheduler binds a pod by an update.
  const bound = old.nodeName === undefined ? withField(spec, 'nodeName', undefined) : spec;
  const resized = ['containers', 'initContainers'].find(
    (name) => listField(spec, name).length !== listField(old, name).length,
  );
  if (resized !== undefined)
    return [forbiddenField(`spec.${resized}`, 'pod updates may not add or remove containers')];
  const detail =
    'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  return [
    ...deadlineErrors(spec.activeDeadlineSeconds, old.activeDeadlineSeconds),
    ...tolerationErrors(listField(spec, 'tolerations'), listField(old, 'tolerations')),
    ...gateErrors(listField(spec, 'schedulingGates'), listField(old, 'schedulingGates')),
    ...(deepEqual(fixedPart(bound), fixedPart(old)) ? [] : [forbiddenField('spec', detail)]),
  ];
}

function fixedPart(spec: JsonObject): JsonObject {
  const { activeDeadlineSeconds: _, tolerations: __, schedulingGates: ___, ...rest } = spec;
  const withoutImages = (name: string) =>
    listField(spec, name).map((container) =>
      isJsonObject(container) ? { ...container, image: '' } : container,
    );
  return {
    ...rest,
    containers: withoutImages('containers'),
    initContainers: withoutImages('initContainers'),
  };
}

function deadlineErrors(seconds: Json | undefined, old: Json | undefined): readonly FieldError[] {
  if (old === undefined || (typeof seconds === 'number' && seconds <= Number(old))) return [];
  const detail =
    seconds === undefined
      ? 'must not update from a positive integer to nil value'
      : 'must be less than or equal to previous value';
  return [invalidField('spec.activeDeadlineSeconds', seconds, detail)];
}

function tolerationErrors(list: readonly Json[], old: readonly Json[]): readonly FieldError[] {
  const bare = (item: Json) =>
    isJsonObject(item) ? withField(item, 'tolerationSeconds', undefined) : item;
  const isKept = (item: Json) => list.some((other) => deepEqual(bare(other), bare(item)));
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return old.every(isKept) ? [] : [forbiddenField('spec.tolerations', detail)];
}

function gateErrors(list: readonly Json[], old: readonly Json[]): readonly FieldError[] {
  const isKnown = (gate: Json) => old.some((other) => deepEqual(other, gate));
  return list.flatMap((gate, index) =>
    isKnown(gate) ? [] : [forbiddenField(`spec.schedulingGates[${index}].name`, newGate(gate))],
  );
}

function newGate(gate: Json): string {
  const name = isJsonObject(gate) ? gate.name : '';
  return `only deletion is allowed, but found new scheduling gate '${name}'`;
}
