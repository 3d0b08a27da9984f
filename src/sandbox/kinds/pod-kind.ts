import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { type FieldError, forbiddenField } from '../status/field-error.ts';
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
  prepareUpdate: withDefaultTolerations,
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

/** Only the images of a pod may change (and a few more fields, which are not modelled). */
function podUpdateErrors(pod: JsonObject, before: JsonObject): readonly FieldError[] {
  const shape = (object: JsonObject) => {
    const spec = objectField(object, 'spec') ?? {};
    const { nodeName: _, tolerations: __, activeDeadlineSeconds: ___, ...rest } = spec;
    const containers = listField(spec, 'containers').map((container) =>
      isJsonObject(container) ? { ...container, image: '' } : container,
    );
    return { ...rest, containers };
  };
  if (deepEqual(shape(pod), shape(before))) return [];
  const detail =
    'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  return [forbiddenField('spec', detail)];
}
