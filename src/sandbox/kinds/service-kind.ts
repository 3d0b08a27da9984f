import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField, withField } from '../json-fields.ts';
import { dns1035Label } from '../metadata/index.ts';
import { type FieldError, invalidField, requiredField, unsupportedValue } from '../status/index.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { withDefaults } from './pod-defaults.ts';
import { resourceNames } from './resource-names.ts';
import { withServiceAddresses } from './service-addresses.ts';

const ports = { min: 1, max: 65_535 };

export const serviceRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'Service',
    plural: 'services',
    namespaced: true,
    shortNames: ['svc'],
    categories: ['all'],
  }),
  hasStatus: true,
  nameRule: dns1035Label,
  selectableFields: ['spec.clusterIP', 'spec.type'],
  fillDefaults: (service) => ({
    ...service,
    spec: withServiceDefaults(objectField(service, 'spec') ?? {}),
  }),
  prepareUpdate: withAllocated,
  admit: withServiceAddresses,
  validate: (service) => serviceErrors(objectField(service, 'spec') ?? {}),
  validateUpdate: addressErrors,
};

function withServiceDefaults(spec: JsonObject): JsonObject {
  const type = stringField(spec, 'type') || 'ClusterIP';
  const isExternal = type === 'NodePort' || type === 'LoadBalancer';
  const listed = listField(spec, 'ports');
  const affinity = stringField(spec, 'sessionAffinity') || 'None';
  const config = objectField(spec, 'sessionAffinityConfig');
  const timed = config ?? { clientIP: { timeoutSeconds: 10_800 } };
  const filled = withDefaults(
    { ...spec, type, ...(listed.length === 0 ? {} : { ports: listed.map(withTargetPort) }) },
    {
      ...(isExternal ? { externalTrafficPolicy: 'Cluster' } : {}),
      ...(type === 'ExternalName' ? {} : { internalTrafficPolicy: 'Cluster' }),
      ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: true } : {}),
      sessionAffinity: affinity,
    },
  );
  return withField(filled, 'sessionAffinityConfig', affinity === 'ClientIP' ? timed : undefined);
}

function withTargetPort(port: Json): Json {
  if (!isJsonObject(port)) return port;
  const { targetPort } = port;
  const isOpen = targetPort === undefined || targetPort === 0 || targetPort === '';
  const protocol = withDefaults(port, { protocol: 'TCP' });
  return isOpen ? { ...protocol, targetPort: port.port ?? 0 } : protocol;
}

/** What was given to a Service is kept by writes that do not speak of it. */
function withAllocated(service: JsonObject, before: JsonObject): JsonObject {
  const [spec, old] = [objectField(service, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return service;
  const kept = withDefaults(spec, {
    ...(old.clusterIP === undefined ? {} : { clusterIP: old.clusterIP }),
    ...(old.clusterIPs === undefined ? {} : { clusterIPs: old.clusterIPs }),
    ...(old.ipFamilies === undefined ? {} : { ipFamilies: old.ipFamilies }),
    ...(old.ipFamilyPolicy === undefined ? {} : { ipFamilyPolicy: old.ipFamilyPolicy }),
  });
  return { ...service, spec: kept };
}

function serviceErrors(spec: JsonObject): readonly FieldError[] {
  const listed = listField(spec, 'ports').filter(isJsonObject);
  const isHeadless = spec.clusterIP === 'None';
  const errors: FieldError[] = [];
  if (spec.type === 'ExternalName') {
    if (!stringField(spec, 'externalName')) errors.push(requiredField('spec.externalName'));
  } else if (listed.length === 0 && !isHeadless) errors.push(requiredField('spec.ports'));
  const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
  const type = stringField(spec, 'type') ?? '';
  if (!types.includes(type)) errors.push(unsupportedValue('spec.type', type, types));
  return [...errors, ...listed.flatMap((port, index) => portErrors(listed, port, index))];
}

function portErrors(
  listed: readonly JsonObject[],
  port: JsonObject,
  index: number,
): readonly FieldError[] {
  const at = `spec.ports[${index}]`;
  const number = Number(port.port ?? 0);
  const errors: FieldError[] = [];
  if (listed.length > 1 && !stringField(port, 'name')) errors.push(requiredField(`${at}.name`));
  if (number < ports.min || number > ports.max) {
    const detail = `must be between ${ports.min} and ${ports.max}, inclusive`;
    errors.push(invalidField(`${at}.port`, number, detail));
  }
  return errors;
}

/** The address of a Service stays while it has one. */
function addressErrors(service: JsonObject, before: JsonObject): readonly FieldError[] {
  const [spec, old] = [objectField(service, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return [];
  const [next, address] = [spec.clusterIPs ?? [], old.clusterIPs ?? []];
  if (deepEqual(next, address) || !Array.isArray(next)) return [];
  return [invalidField('spec.clusterIPs[0]', next[0] ?? null, 'may not change once set')];
}
