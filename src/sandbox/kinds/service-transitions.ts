import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, withField } from '../json-fields.ts';

/**
 * Removes what only the earlier type of a Service needs, unless the write changes it: a LoadBalancer becomes a ClusterIP by its `type` alone.
 * The rules of `dropTypeDependentFields` in Kubernetes.
 */
export function withoutFieldsOfOldType(spec: JsonObject, old: JsonObject): JsonObject {
  const dropped = typeDependentFields.flatMap(({ fields, isNeeded }) =>
    isNeeded(old) && !isNeeded(spec)
      ? fields.filter((field) => deepEqual(spec[field], old[field]))
      : [],
  );
  const kept = dropped.reduce<JsonObject>((each, field) => withField(each, field, undefined), spec);
  const losesPorts = needsNodePorts(old) && !needsNodePorts(spec) && hasSameNodePorts(spec, old);
  return losesPorts ? { ...kept, ports: portsOf(spec).map(withoutNodePort) } : kept;
}

interface TypeDependentFields {
  readonly fields: readonly string[];
  readonly isNeeded: (spec: JsonObject) => boolean;
}

const typeDependentFields: readonly TypeDependentFields[] = [
  {
    fields: ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy'],
    isNeeded: ({ type }) => type !== 'ExternalName',
  },
  {
    fields: ['healthCheckNodePort'],
    isNeeded: needsHealthCheck,
  },
  {
    fields: ['allocateLoadBalancerNodePorts', 'loadBalancerClass'],
    isNeeded: ({ type }) => type === 'LoadBalancer',
  },
  {
    fields: ['externalTrafficPolicy'],
    isNeeded: ({ type, externalIPs }) =>
      type === 'NodePort' ||
      type === 'LoadBalancer' ||
      (type === 'ClusterIP' && Array.isArray(externalIPs) && externalIPs.length > 0),
  },
];

/** Whether a Service has a port that tells whether a node has endpoints. */
export function needsHealthCheck({ type, externalTrafficPolicy }: JsonObject): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/** Whether the ports of a Service have node ports. */
function needsNodePorts({ type, allocateLoadBalancerNodePorts }: JsonObject): boolean {
  return (
    type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false)
  );
}

/** Keeps the node port of each port that a write leaves out. A port is known by its name. */
export function withOldNodePorts(spec: JsonObject, old: JsonObject): JsonObject {
  if (!needsNodePorts(spec) || !needsNodePorts(old)) return spec;
  const known = new Map(portsOf(old).map(({ name, nodePort }) => [name, nodePort]));
  const used = new Set(portsOf(spec).map(({ nodePort }) => nodePort));
  const ports = portsOf(spec).map((port) => {
    const nodePort = known.get(port.name);
    const isFree = port.nodePort === undefined && nodePort !== undefined && !used.has(nodePort);
    return isFree ? { ...port, nodePort } : port;
  });
  return { ...spec, ports };
}

function hasSameNodePorts(spec: JsonObject, old: JsonObject): boolean {
  const numbers = (each: JsonObject) => new Set(portsOf(each).map(({ nodePort }) => nodePort));
  const [next, before] = [numbers(spec), numbers(old)];
  return next.size === before.size && [...next].every((number) => before.has(number));
}

function portsOf(spec: JsonObject): readonly JsonObject[] {
  return listField(spec, 'ports').filter(isJsonObject);
}

function withoutNodePort(port: JsonObject): JsonObject {
  return withField(port, 'nodePort', undefined);
}
