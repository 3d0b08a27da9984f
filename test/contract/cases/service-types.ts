import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { get, merge, post, put } from './requests.ts';

const services = '/api/v1/namespaces/$(ns)/services';

function service(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x', ...metadata }, spec };
}

/** Types and what belongs to them, before and after. */
const transitions: readonly (readonly [JsonObject, JsonObject])[] = [
  [{ type: 'LoadBalancer' }, { type: 'ClusterIP' }],
  [
    { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_290 },
    { type: 'ClusterIP' },
  ],
  [{ type: 'ClusterIP' }, { type: 'ExternalName', externalName: 'a.example.com' }],
  [{ type: 'LoadBalancer', loadBalancerClass: 'a.example.com/b' }, { type: 'ClusterIP' }],
  [{ type: 'LoadBalancer', allocateLoadBalancerNodePorts: true }, { type: 'NodePort' }],
  [{ type: 'NodePort' }, { type: 'ClusterIP' }],
  [{ type: 'NodePort', externalTrafficPolicy: 'Local' }, { type: 'ClusterIP' }],
  [{ type: 'NodePort' }, { type: 'LoadBalancer' }],
  [{ type: 'NodePort' }, { type: 'ExternalName', externalName: 'a.example.com' }],
];

const reason = 'a server removes the manager of a field that it has dropped';
const droppedField = { 'metadata.managedFields': reason, 'metadata.resourceVersion': reason };

/** A Service changes its type by a merge patch of the type alone; then a PUT leaves allocated fields out. */
function transition(from: JsonObject, to: JsonObject, nodePort: number): ContractCase {
  const port = { port: 80, targetPort: 8080 };
  const withPorts = (spec: JsonObject) => ({
    ports: [
      spec.type === 'NodePort' || spec.type === 'LoadBalancer' ? { ...port, nodePort } : port,
    ],
    ...spec,
  });
  return {
    name: `a Service of type ${from.type}${Object.keys(from)
      .slice(1)
      .map((field) => ` with ${field}`)
      .join('')} becomes one of type ${to.type}`,
    ranked: [42],
    steps: [
      post(services, service(withPorts(from)), { status: 201 }),
      merge(`${services}/x`, { spec: to }, { status: 200 }),
      get(`${services}/x`, { status: 200 }),
      put(`${services}/x`, service({ ports: [port], ...to }), {
        status: 200,
        ...(to.type === 'ExternalName' && { differs: droppedField }),
      }),
    ],
  };
}

/** What a Service loses and keeps when its type changes. Node ports are given: those that a server chooses differ. */
export const serviceTypes: readonly ContractCase[] = transitions.map(([from, to], index) =>
  transition(from, to, 30_200 + index),
);
