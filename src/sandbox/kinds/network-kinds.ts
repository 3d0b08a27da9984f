import { isJsonObject, type Json } from '#util/json.ts';
import { listField, objectField } from '../json-fields.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { errorsOf } from './field-checks.ts';
import { ingressClassErrors, ingressErrors } from './ingress-rules.ts';
import {
  endpointsChecks,
  ingressClassChecks,
  policyChecks,
  sliceChecks,
} from './network-checks.ts';
import { withDefaults } from './pod-defaults.ts';
import { resourceNames } from './served-kind.ts';

export const ingressRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    plural: 'ingresses',
    namespaced: true,
    shortNames: ['ing'],
  }),
  hasStatus: true,
  hasGeneration: true,
  validate: (ingress) => ingressErrors(objectField(ingress, 'spec') ?? {}),
  validateCreate: ingressClassErrors,
};

export const ingressClassRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    plural: 'ingressclasses',
    namespaced: false,
  }),
  hasGeneration: true,
  fillDefaults(ingressClass) {
    const spec = objectField(ingressClass, 'spec');
    const parameters = objectField(spec ?? {}, 'parameters');
    if (spec === undefined || parameters === undefined) return ingressClass;
    const filled = withDefaults(parameters, { scope: 'Cluster' });
    return { ...ingressClass, spec: { ...spec, parameters: filled } };
  },
  validate: (ingressClass) => errorsOf(ingressClassChecks, ingressClass),
  immutable: { 'spec.controller': '' },
};

export const networkPolicyRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    namespaced: true,
    shortNames: ['netpol'],
  }),
  hasGeneration: true,
  fillDefaults(policy) {
    const spec = objectField(policy, 'spec') ?? {};
    const egress = listField(spec, 'egress');
    const types = listField(spec, 'policyTypes');
    const policyTypes =
      types.length > 0 ? types : ['Ingress', ...(egress.length > 0 ? ['Egress'] : [])];
    const rules = (name: string) => {
      const list = listField(spec, name);
      return list.length === 0 ? {} : { [name]: list.map(withPolicyPorts) };
    };
    return { ...policy, spec: { ...spec, ...rules('ingress'), ...rules('egress'), policyTypes } };
  },
  validate: (policy) => errorsOf(policyChecks, policy),
};

function withPolicyPorts(rule: Json): Json {
  if (!isJsonObject(rule)) return rule;
  const ports = listField(rule, 'ports');
  if (ports.length === 0) return rule;
  return {
    ...rule,
    ports: ports.map((port) =>
      isJsonObject(port) ? withDefaults(port, { protocol: 'TCP' }) : port,
    ),
  };
}

export const endpointsRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'Endpoints',
    plural: 'endpoints',
    namespaced: true,
    shortNames: ['ep'],
  }),
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  fillDefaults: (endpoints) => {
    const subsets = listField(endpoints, 'subsets');
    if (subsets.length === 0) return endpoints;
    return { ...endpoints, subsets: subsets.map(withPolicyPorts) };
  },
  validate: (endpoints) => errorsOf(endpointsChecks, endpoints),
};

export const endpointSliceRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    namespaced: true,
  }),
  hasGeneration: true,
  countedMetadata: 'labels',
  writtenZeros: (slice) => withDefaults(slice, { endpoints: null, ports: null }),
  fillDefaults(slice) {
    const ports = listField(slice, 'ports');
    if (ports.length === 0) return slice;
    return {
      ...slice,
      ports: ports.map((port) =>
        isJsonObject(port) ? withDefaults(port, { name: '', protocol: 'TCP' }) : port,
      ),
    };
  },
  validate: (slice) => errorsOf(sliceChecks, slice),
  immutable: { addressType: '' },
};
