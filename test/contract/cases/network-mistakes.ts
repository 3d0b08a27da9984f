import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { merge, post } from './requests.ts';

const services = '/api/v1/namespaces/$(ns)/services';
const ingresses = '/apis/networking.k8s.io/v1/namespaces/$(ns)/ingresses';

function service(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x', ...metadata }, spec };
}

function rejected(name: string, spec: JsonObject): ContractCase {
  return {
    name: `a Service with ${name} is rejected`,
    ranked: [42],
    steps: [post(services, service({ ports: [{ port: 80 }], ...spec }), { status: 422 })],
  };
}

function ports(name: string, ...list: readonly JsonObject[]): ContractCase {
  return rejected(name, { ports: list });
}

function ingress(spec: JsonObject): JsonObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'x' },
    spec,
  };
}

function rejectedIngress(name: string, spec: JsonObject): ContractCase {
  return {
    name: `an Ingress with ${name} is rejected`,
    ranked: [42],
    steps: [post(ingresses, ingress(spec), { status: 422 })],
  };
}

const backend = (fields: JsonObject = {}) => ({
  service: { name: 'web', port: { number: 80 }, ...fields },
});

function host(name: string): ContractCase {
  return rejectedIngress(`the host "${name}"`, {
    rules: [{ host: name, http: { paths: [path()] } }],
  });
}

function path(fields: JsonObject = {}): JsonObject {
  return { path: '/', pathType: 'Prefix', backend: backend(), ...fields };
}

function rejectedPath(name: string, fields: JsonObject): ContractCase {
  return rejectedIngress(name, { rules: [{ http: { paths: [path(fields)] } }] });
}

/** Mistakes in what leads to pods. */
export const networkMistakes: readonly ContractCase[] = [
  rejected('an address that is none', { clusterIP: 'abc' }),
  rejected('an address of elsewhere', { clusterIP: '1.2.3.4' }),
  rejected('two addresses of one family', { clusterIP: 'None', clusterIPs: ['None', 'None'] }),
  rejected('addresses that do not go together', {
    clusterIP: 'None',
    clusterIPs: ['10.96.0.77'],
  }),
  rejected('an unknown type', { type: 'Public' }),
  rejected('a port of the node that it does not use', { ports: [{ port: 80, nodePort: 30_080 }] }),
  rejected('a port of the node beyond the range', {
    type: 'NodePort',
    ports: [{ port: 80, nodePort: 80 }],
  }),
  rejected('a port of the node twice', {
    type: 'NodePort',
    ports: [
      { name: 'a', port: 80, nodePort: 30_181 },
      { name: 'b', port: 81, nodePort: 30_181 },
    ],
  }),
  {
    name: 'a port of the node that another Service has is rejected',
    ranked: [42],
    steps: [
      post(services, service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_183 }] }), {
        status: 201,
      }),
      post(
        services,
        service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_183 }] }, { name: 'y' }),
        { status: 422 },
      ),
    ],
  },
  ports('a port name in capitals', { name: 'Web', port: 80 }),
  ports('a port name twice', { name: 'a', port: 80 }, { name: 'a', port: 81 }),
  ports('ports without names', { port: 80 }, { port: 81 }),
  ports('a port twice', { name: 'a', port: 80 }, { name: 'b', port: 80 }),
  ports('ports that are none', { port: 0 }, { name: 'b', port: 70_000, targetPort: 70_000 }),
  ports('a target that is no port name', { port: 80, targetPort: 'much-too-long-a-name' }),
  ports('an unknown protocol', { port: 80, protocol: 'HTTP' }),
  ports('a protocol of the application that is none', { port: 80, appProtocol: 'a b' }),
  rejected('a selector that is none', { selector: { 'a b': 'c d' } }),
  rejected('an unknown affinity', { sessionAffinity: 'Cookie' }),
  rejected('an affinity of no time', {
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
  }),
  rejected('a policy of traffic from outside', { externalTrafficPolicy: 'Local' }),
  rejected('an unknown policy of traffic', { internalTrafficPolicy: 'Near' }),
  rejected('an unknown policy of traffic from outside', {
    type: 'NodePort',
    externalTrafficPolicy: 'Near',
  }),
  rejected('node ports for a balancer that it has not', { allocateLoadBalancerNodePorts: true }),
  rejected('an alias that is none', { type: 'ExternalName', externalName: 'A_b' }),
  rejected('an alias and an address', {
    type: 'ExternalName',
    externalName: 'a.b',
    clusterIP: '10.96.0.77',
  }),
  rejected('no address and a port of the node', { type: 'NodePort', clusterIP: 'None' }),
  {
    name: 'the address of a Service stays',
    steps: [
      post(
        services,
        service({ ports: [{ port: 80 }], selector: { app: 'x' }, clusterIP: 'None' }),
        { status: 201 },
      ),
      merge(`${services}/x`, { spec: { clusterIP: '10.96.0.77' } }, { status: 422 }),
    ],
  },
  host('UPPER_case!'),
  host('10.0.0.1'),
  host('*'),
  host('a.*.b'),
  host('*.Example'),
  rejectedIngress('neither rules nor a backend', {}),
  rejectedIngress('no paths', { rules: [{ http: { paths: [] } }] }),
  rejectedIngress('a backend in capitals', { defaultBackend: backend({ name: 'S_' }) }),
  rejectedIngress('a backend without a name', { defaultBackend: backend({ name: '' }) }),
  rejectedIngress('a port that is none', { defaultBackend: backend({ port: { number: 99_999 } }) }),
  rejectedIngress('no port', { defaultBackend: backend({ port: {} }) }),
  rejectedIngress('a port name that is none', {
    defaultBackend: backend({ port: { name: 'much-too-long-a-name' } }),
  }),
  rejectedIngress('a port by number and name', {
    defaultBackend: backend({ port: { number: 80, name: 'web' } }),
  }),
  rejectedIngress('a backend of nothing', { defaultBackend: {} }),
  rejectedIngress('two backends', {
    defaultBackend: { ...backend(), resource: { kind: 'Bucket', name: 'x' } },
  }),
  rejectedIngress('a resource that is none', {
    defaultBackend: { resource: { kind: '', name: 'a/b' } },
  }),
  rejectedIngress('a class in capitals', {
    defaultBackend: backend(),
    ingressClassName: 'Public_',
  }),
  rejectedIngress('hosts of a certificate that are none', {
    defaultBackend: backend(),
    tls: [{ hosts: ['A_', '*'], secretName: 'S_' }],
  }),
  rejectedPath('no type of a path', { pathType: null }),
  rejectedPath('an unknown type of a path', { pathType: 'Regex' }),
  rejectedPath('a path that is relative', { path: 'a' }),
  rejectedPath('a path with steps', { path: '/a//b/../c/..' }),
  {
    name: 'an Ingress whose class is said twice, and not alike, is rejected',
    steps: [
      post(
        ingresses,
        {
          ...ingress({ defaultBackend: backend(), ingressClassName: 'a' }),
          metadata: { name: 'x', annotations: { 'kubernetes.io/ingress.class': 'b' } },
        },
        { status: 422 },
      ),
    ],
  },
  {
    name: 'what is right in an Ingress is taken',
    steps: [
      post(
        ingresses,
        ingress({
          ingressClassName: 'public',
          tls: [{ hosts: ['*.a.example', 'b.example'], secretName: 's' }],
          rules: [
            { host: '*.a.example', http: { paths: [path({ path: '/a', pathType: 'Exact' })] } },
            {
              host: 'b.example',
              http: {
                paths: [
                  path({ path: null, pathType: 'ImplementationSpecific' }),
                  path({ backend: backend({ port: { name: 'web' } }) }),
                ],
              },
            },
          ],
        }),
        { status: 201 },
      ),
    ],
  },
];
