import type { JsonObject } from '#util/json.ts';
import { labelSelectorText } from '../selector/label-query.ts';
import {
  ageOf,
  countIn,
  labelsText,
  nameOf,
  none,
  objectIn,
  objectsIn,
  type PrintedRow,
  shortened,
  stringIn,
  textsIn,
} from './cell-values.ts';

export function serviceRow(service: JsonObject, nowMs: number): PrintedRow {
  const spec = objectIn(service, 'spec');
  const ports = objectsIn(spec, 'ports').map((port) => {
    const nodePort = countIn(port, 'nodePort');
    const numbers = nodePort > 0 ? `${port.port}:${nodePort}` : String(port.port);
    return `${numbers}/${stringIn(port, 'protocol')}`;
  });
  return {
    cells: [
      nameOf(service),
      stringIn(spec, 'type'),
      textsIn(spec, 'clusterIPs')[0] ?? none,
      externalAddress(service),
      ports.length === 0 ? none : ports.join(','),
      ageOf(service, nowMs),
      labelsText(objectIn(spec, 'selector')),
    ],
  };
}

function externalAddress(service: JsonObject): string {
  const spec = objectIn(service, 'spec');
  const external = textsIn(spec, 'externalIPs');
  switch (spec.type) {
    case 'ExternalName':
      return stringIn(spec, 'externalName');
    case 'LoadBalancer': {
      const all = [...balancerAddresses(service), ...external];
      return all.length === 0 ? '<pending>' : all.join(',');
    }
    default:
      return external.length === 0 ? none : external.join(',');
  }
}

function balancerAddresses(object: JsonObject): readonly string[] {
  const ingress = objectsIn(objectIn(object, 'status', 'loadBalancer'), 'ingress');
  const addresses = ingress.map((entry) => stringIn(entry, 'ip') || stringIn(entry, 'hostname'));
  return [...new Set(addresses.filter((address) => address !== ''))].sort();
}

export function ingressRow(ingress: JsonObject, nowMs: number): PrintedRow {
  const spec = objectIn(ingress, 'spec');
  return {
    cells: [
      nameOf(ingress),
      stringIn(spec, 'ingressClassName') || none,
      hostsText(objectsIn(spec, 'rules')),
      balancerAddresses(ingress).join(','),
      objectsIn(spec, 'tls').length === 0 ? '80' : '80, 443',
      ageOf(ingress, nowMs),
    ],
  };
}

function hostsText(rules: readonly JsonObject[]): string {
  const hosts = rules.map((rule) => stringIn(rule, 'host')).filter((host) => host !== '');
  return hosts.length === 0 ? '*' : shortened(hosts, { limit: 3, total: rules.length });
}

export function ingressClassRow(ingressClass: JsonObject, nowMs: number): PrintedRow {
  const spec = objectIn(ingressClass, 'spec');
  const parameters = objectIn(spec, 'parameters');
  const group = stringIn(parameters, 'apiGroup');
  const kind = `${stringIn(parameters, 'kind')}${group === '' ? '' : `.${group}`}`;
  return {
    cells: [
      `${nameOf(ingressClass)}${isDefault(ingressClass, 'ingressclass.kubernetes.io/is-default-class') ? ' (default)' : ''}`,
      stringIn(spec, 'controller'),
      spec.parameters === undefined ? none : `${kind}/${stringIn(parameters, 'name')}`,
      ageOf(ingressClass, nowMs),
    ],
  };
}

/** Returns whether an object is marked as the default. */
export function isDefault(object: JsonObject, annotation: string): boolean {
  return objectIn(object, 'metadata', 'annotations')[annotation] === 'true';
}

export function networkPolicyRow(policy: JsonObject, nowMs: number): PrintedRow {
  const selector = labelSelectorText(objectIn(policy, 'spec', 'podSelector'));
  return { cells: [nameOf(policy), selector || none, ageOf(policy, nowMs)] };
}

export function endpointsRow(endpoints: JsonObject, nowMs: number): PrintedRow {
  const addresses = objectsIn(endpoints, 'subsets').flatMap((subset) => {
    const ips = objectsIn(subset, 'addresses').map((address) => stringIn(address, 'ip'));
    const ports = objectsIn(subset, 'ports').map((port) => String(port.port));
    if (ports.length === 0) return ips;
    return ports.flatMap((port) => ips.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`));
  });
  const isEmpty = objectsIn(endpoints, 'subsets').length === 0;
  return {
    cells: [
      nameOf(endpoints),
      isEmpty ? none : shortened(addresses, { limit: 3 }),
      ageOf(endpoints, nowMs),
    ],
  };
}

export function endpointSliceRow(slice: JsonObject, nowMs: number): PrintedRow {
  const ports = objectsIn(slice, 'ports').map((port) => {
    if (port.port !== undefined) return String(port.port);
    return port.name === undefined ? '*' : String(port.name);
  });
  const addresses = objectsIn(slice, 'endpoints').flatMap((one) => textsIn(one, 'addresses'));
  const list = (items: readonly string[]) =>
    items.length === 0 ? '<unset>' : shortened(items, { limit: 3 });
  return {
    cells: [
      nameOf(slice),
      stringIn(slice, 'addressType'),
      list(ports),
      list(addresses),
      ageOf(slice, nowMs),
    ],
  };
}
