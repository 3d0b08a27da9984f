import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { invalid } from '../status/api-errors.ts';
import { invalidField } from '../status/field-error.ts';
import type { ObjectLister } from './served-kind.ts';

/** Addresses of Services: `10.96.x.y`. The first one belongs to the API server. */
const network = '10.96';
const firstNodePort = 30_000;
const nodePorts = 2768;
const lastNodePort = firstNodePort + nodePorts - 1;

/** Allocates the cluster IP and the node ports of a Service; keeps those it has. */
export function withServiceAddresses(
  service: JsonObject,
  _before: JsonObject | undefined,
  objects: ObjectLister,
): JsonObject {
  const spec = objectField(service, 'spec') ?? {};
  if (spec.type === 'ExternalName') return service;
  const others = objects
    .list('/services')
    .filter((other) => uidOf(other) !== uidOf(service))
    .map((other) => objectField(other, 'spec') ?? {});
  const families = withFamilies(withClusterIp(service, spec, others));
  return { ...service, spec: withNodePorts(service, families, others) };
}

function uidOf(object: JsonObject): string {
  return stringField(objectField(object, 'metadata') ?? {}, 'uid') ?? '';
}

function withClusterIp(
  service: JsonObject,
  spec: JsonObject,
  others: readonly JsonObject[],
): JsonObject {
  const used = new Set(others.flatMap((other) => listField(other, 'clusterIPs').map(String)));
  const requested =
    stringField(spec, 'clusterIP') || String(listField(spec, 'clusterIPs')[0] ?? '');
  if (requested === 'None') return { ...spec, clusterIP: 'None', clusterIPs: ['None'] };
  if (requested === '') {
    const address = freeAddress(nameOf(service), used);
    return { ...spec, clusterIP: address, clusterIPs: [address] };
  }
  if (!isInNetwork(requested)) {
    const because = 'the provided network does not match the current range';
    throw rejectedAddress(service, requested, because);
  }
  if (used.has(requested))
    throw rejectedAddress(service, requested, 'provided IP is already allocated');
  return { ...spec, clusterIP: requested, clusterIPs: [requested] };
}

/** Clusters have other ranges, mostly in 10.0.0.0/8: addresses from all of them are accepted. */
function isInNetwork(address: string): boolean {
  return address.startsWith('10.');
}

function rejectedAddress(service: JsonObject, address: string, because: string): Error {
  const detail = `failed to allocate IP ${address}: ${because}`;
  const error = invalidField('spec.clusterIPs', [address], detail);
  return invalid({ group: '', kind: 'Service' }, nameOf(service), [error]);
}

function nameOf(service: JsonObject): string {
  return stringField(objectField(service, 'metadata') ?? {}, 'name') ?? '';
}

/** An address that is derived from a name, so that it is usually the same; the next free one if it is in use. */
function freeAddress(name: string, used: ReadonlySet<string>): string {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_000;
  for (let step = 0; ; step++) {
    const number = (hash + step) % 65_000;
    const address = `${network}.${Math.floor(number / 254)}.${(number % 254) + 1}`;
    if (address !== `${network}.0.1` && !used.has(address)) return address;
  }
}

function withFamilies(spec: JsonObject): JsonObject {
  if (spec.ipFamilyPolicy !== undefined && spec.ipFamilies !== undefined) return spec;
  const isHeadless = spec.clusterIP === 'None' && objectField(spec, 'selector') === undefined;
  const { ipFamilies = isHeadless ? ['IPv4', 'IPv6'] : ['IPv4'] } = spec;
  const { ipFamilyPolicy = isHeadless ? 'RequireDualStack' : 'SingleStack' } = spec;
  return { ...spec, ipFamilies, ipFamilyPolicy };
}

function withNodePorts(
  service: JsonObject,
  spec: JsonObject,
  others: readonly JsonObject[],
): JsonObject {
  const isBalanced = spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === true;
  const ports = listField(spec, 'ports').filter(isJsonObject);
  if ((spec.type !== 'NodePort' && !isBalanced) || ports.length === 0) return spec;
  const usedByOthers = new Set(others.flatMap(nodePortsOf));
  assertNodePorts(service, ports, usedByOthers);
  const used = new Set([...usedByOthers, ...nodePortsOf(spec)]);
  const numbered = ports.map((port) => {
    if (typeof port.nodePort === 'number' && port.nodePort > 0) return port;
    const nodePort = freePort(used);
    used.add(nodePort);
    return { ...port, nodePort };
  });
  const needsCheck = spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
  const check =
    needsCheck && spec.healthCheckNodePort === undefined
      ? { healthCheckNodePort: freePort(used) }
      : {};
  return { ...spec, ports: numbered, ...check };
}

/** @throws StatusError 422 for ports that are in use or out of range */
function assertNodePorts(
  service: JsonObject,
  ports: readonly JsonObject[],
  usedByOthers: ReadonlySet<number>,
): void {
  const range = `The range of valid ports is ${firstNodePort}-${lastNodePort}`;
  for (const [index, { nodePort = 0, protocol }] of ports.entries()) {
    if (typeof nodePort !== 'number' || nodePort === 0) continue;
    const isValid = nodePort >= firstNodePort && nodePort <= lastNodePort;
    // TCP and UDP can use the same node port.
    const isRepeated = ports
      .slice(0, index)
      .some((other) => other.nodePort === nodePort && other.protocol === protocol);
    if (isValid && !isRepeated && !usedByOthers.has(nodePort)) continue;
    const detail = isValid
      ? 'provided port is already allocated'
      : `provided port is not in the valid range. ${range}`;
    const error = invalidField(`spec.ports[${index}].nodePort`, nodePort, detail);
    throw invalid({ group: '', kind: 'Service' }, nameOf(service), [error]);
  }
}

function nodePortsOf(spec: JsonObject): readonly number[] {
  const listed = listField(spec, 'ports').flatMap((port) =>
    isJsonObject(port) && typeof port.nodePort === 'number' ? [port.nodePort] : [],
  );
  return typeof spec.healthCheckNodePort === 'number'
    ? [...listed, spec.healthCheckNodePort]
    : listed;
}

function freePort(used: ReadonlySet<number>): number {
  for (let port = firstNodePort; port < firstNodePort + nodePorts; port++)
    if (!used.has(port)) return port;
  return firstNodePort + nodePorts;
}
