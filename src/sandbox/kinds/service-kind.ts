import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField, withField } from '../json-fields.ts';
import { dnsLabel } from '../metadata/name-rules.ts';
import { type FieldError, forbiddenField, invalidField } from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { withDefaults } from './pod-defaults.ts';
import { resourceNames } from './served-kind.ts';
import { withServiceAddresses } from './service-addresses.ts';
import { addressErrors, serviceErrors } from './service-rules.ts';
import {
  needsHealthCheck,
  withOldNodePorts,
  withoutFieldsOfOldType,
} from './service-transitions.ts';

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
  nameRule: dnsLabel,
  selectableFields: ['spec.clusterIP', 'spec.type'],
  fillDefaults: (service) => ({
    ...service,
    spec: withServiceDefaults(objectField(service, 'spec') ?? {}),
  }),
  prepareUpdate,
  admit: withServiceAddresses,
  validate: (service) => serviceErrors(objectField(service, 'spec') ?? {}),
  validateUpdate: transitionErrors,
};

function withServiceDefaults(spec: JsonObject): JsonObject {
  const type = stringField(spec, 'type') || 'ClusterIP';
  const isExternal = type === 'NodePort' || type === 'LoadBalancer';
  const listed = listField(spec, 'ports');
  const affinity = stringField(spec, 'sessionAffinity') || 'None';
  const config = objectField(spec, 'sessionAffinityConfig');
  const client = objectField(config ?? {}, 'clientIP') ?? {};
  const timed = { ...config, clientIP: withDefaults(client, { timeoutSeconds: 10_800 }) };
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
  const isUnset = targetPort === undefined || targetPort === 0 || targetPort === '';
  const protocol = withDefaults(port, { protocol: 'TCP' });
  return isUnset ? { ...protocol, targetPort: port.port ?? 0 } : protocol;
}

function prepareUpdate(service: JsonObject, before: JsonObject): JsonObject {
  const [spec, old] = [objectField(service, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
  return { ...service, spec: withoutFieldsOfOldType(withAllocated(spec, old), old) };
}

/** Writes that omit allocated fields of a Service keep them. */
function withAllocated(written: JsonObject, old: JsonObject): JsonObject {
  const spec = withOldNodePorts(written, old);
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return spec;
  const addresses = deepEqual(spec.clusterIPs, old.clusterIPs) ? spec.clusterIP : undefined;
  // The first address has two fields: the list follows the field that changed.
  const isAddressChanged =
    typeof addresses === 'string' && addresses !== '' && addresses !== old.clusterIP;
  const requested = isAddressChanged
    ? { ...spec, clusterIPs: [addresses, ...listField(spec, 'clusterIPs').slice(1)] }
    : spec;
  return withDefaults(requested, {
    ...(old.clusterIP === undefined ? {} : { clusterIP: old.clusterIP }),
    ...(old.clusterIPs === undefined ? {} : { clusterIPs: old.clusterIPs }),
    ...(old.ipFamilies === undefined ? {} : { ipFamilies: old.ipFamilies }),
    ...(old.ipFamilyPolicy === undefined ? {} : { ipFamilyPolicy: old.ipFamilyPolicy }),
  });
}

/** The addresses of a Service are immutable while they are set, and so are their families. */
function transitionErrors(service: JsonObject, before: JsonObject): readonly FieldError[] {
  const [spec, old] = [objectField(service, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
  const isHeadless = ({ clusterIPs }: JsonObject) => deepEqual(clusterIPs, ['None']);
  const hasNoAddress = [spec, old].some(({ type }) => type === 'ExternalName');
  if (!hasNoAddress && addressErrors(spec).length > 0) return [];
  const isEither = isHeadless(spec) || isHeadless(old);
  return [
    ...(hasNoAddress || (isHeadless(spec) && isHeadless(old))
      ? []
      : changedItems('clusterIPs', spec, old)),
    ...(hasNoAddress || isEither ? [] : changedItems('ipFamilies', spec, old)),
    ...(isBalanced(spec) && isBalanced(old) && spec.loadBalancerClass !== old.loadBalancerClass
      ? [invalidField('spec.loadBalancerClass', spec.loadBalancerClass, unchangeable)]
      : []),
    ...(needsHealthCheck(spec) && needsHealthCheck(old)
      ? changedHealthCheck(spec.healthCheckNodePort, old.healthCheckNodePort)
      : []),
  ];
}

const unchangeable = 'may not change once set';

/** The first of a list stays; so does each of a list as long as before. */
function changedItems(name: string, spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const [list, before] = [listField(spec, name), listField(old, name)];
  const compared = list.length === before.length ? before : before.slice(0, 1);
  return compared.flatMap((item, index) =>
    index >= list.length || item === list[index]
      ? []
      : [invalidField(`spec.${name}[${index}]`, list as Json, unchangeable)],
  );
}

function isBalanced({ type }: JsonObject): boolean {
  return type === 'LoadBalancer';
}

function changedHealthCheck(port: Json | undefined, old: Json | undefined): readonly FieldError[] {
  return port === old ? [] : [forbiddenField('spec.healthCheckNodePort', 'field is immutable')];
}
