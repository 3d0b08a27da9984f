import type { JsonObject } from '../../util/json.ts';
import { labelSelectorText } from '../selector/index.ts';
import {
  ageOf,
  countIn,
  labelsText,
  nameOf,
  none,
  objectsIn,
  type PrintedRow,
  part,
  shortened,
  textIn,
  textsIn,
} from './cell-values.ts';

export function serviceRow(service: JsonObject, nowMs: number): PrintedRow {
  const spec = part(service, 'spec');
  const ports = objectsIn(spec, 'ports').map((port) => {
    const nodePort = countIn(port, 'nodePort');
    const numbers = nodePort > 0 ? `${port.port}:${nodePort}` : String(port.port);
    return `${numbers}/${textIn(port, 'protocol')}`;
  });
  return {
    cells: [
      nameOf(service),
      textIn(spec, 'type'),
      textsIn(spec, 'clusterIPs')[0] ?? none,
      externalAddress(service),
      ports.length === 0 ? none : ports.join(','),
      ageOf(service, nowMs),
      labelsText(part(spec, 'selector')),
    ],
  };
}

function externalAddress(service: JsonObject): string {
  const spec = part(service, 'spec');
  const external = textsIn(spec, 'externalIPs');
  switch (spec.type) {
    case 'ExternalName':
      return textIn(spec, 'externalName');
    case 'LoadBalancer': {
      const all = [...balancerAddresses(service), ...external];
      return all.length === 0 ? '<pending>' : all.join(',');
    }
    default:
      return external.length === 0 ? none : external.join(',');
  }
}

function balancerAddresses(object: JsonObject): readonly string[] {
  const ingress = objectsIn(part(object, 'status', 'loadBalancer'), 'ingress');
  const addresses = ingress.map((entry) => textIn(entry, 'ip') || textIn(entry, 'hostname'));
  return [...new Set(addresses.filter((address) => address !== ''))].sort();
}

export function ingressRow(ingress: JsonObject, nowMs: number): PrintedRow {
  const spec = part(ingress, 'spec');
  return {
    cells: [
      nameOf(ingress),
      textIn(spec, 'ingressClassName') || none,
      hostsText(objectsIn(spec, 'rules')),
      balancerAddresses(ingress).join(','),
      objectsIn(spec, 'tls').length === 0 ? '80' : '80, 443',
      ageOf(ingress, nowMs),
    ],
  };
}

function hostsText(rules: readonly JsonObject[]): string {
  const hosts = rules.map((rule) => textIn(rule, 'host')).filter((host) => host !== '');
  return hosts.length === 0 ? '*' : shortened(hosts, { limit: 3, total: rules.length });
}

export function ingressClassRow(ingressClass: JsonObject, nowMs: number): PrintedRow {
  const spec = part(ingressClass, 'spec');
  const parameters = part(spec, 'parameters');
  const group = textIn(parameters, 'apiGroup');
  const kind = `${textIn(parameters, 'kind')}${group === '' ? '' : `.${group}`}`;
  return {
    cells: [
      `${nameOf(ingressClass)}${isDefault(ingressClass, 'ingressclass.kubernetes.io/is-default-class') ? ' (default)' : ''}`,
      textIn(spec, 'controller'),
      spec.parameters === undefined ? none : `${kind}/${textIn(parameters, 'name')}`,
      ageOf(ingressClass, nowMs),
    ],
  };
}

/** Is an object marked as the one that is taken when nobody says which? */
export function isDefault(object: JsonObject, annotation: string): boolean {
  return part(object, 'metadata', 'annotations')[annotation] === 'true';
}

export function networkPolicyRow(policy: JsonObject, nowMs: number): PrintedRow {
  const selector = labelSelectorText(part(policy, 'spec', 'podSelector'));
  return { cells: [nameOf(policy), selector || none, ageOf(policy, nowMs)] };
}

export function endpointsRow(endpoints: JsonObject, nowMs: number): PrintedRow {
  const addresses = objectsIn(endpoints, 'subsets').flatMap((subset) => {
    const ips = objectsIn(subset, 'addresses').map((address) => textIn(address, 'ip'));
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
      textIn(slice, 'addressType'),
      list(ports),
      list(addresses),
      ageOf(slice, nowMs),
    ],
  };
}
