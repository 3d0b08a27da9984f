import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import {
  dnsLabel,
  dnsSubdomain,
  isIpAddress,
  portNumber,
  qualifiedName,
} from '../metadata/name-rules.ts';
import { labelErrors } from '../metadata/validate-metadata.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';
import { protocolErrors } from './container-rules.ts';
import { errorsOf, fields, isEmpty, oneOf, optional } from './field-checks.ts';
import { endpointAddress } from './network-checks.ts';
import { ipAddress, qualified } from './pod-checks.ts';
import { cidr } from './policy-checks.ts';
import { portErrors } from './probe-rules.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const affinities = ['ClientIP', 'None'];
const policies = ['Cluster', 'Local'];
const longestAffinitySeconds = 86_400;

/** Validates a Service before addresses are allocated. */
export function serviceErrors(spec: JsonObject): readonly FieldError[] {
  const ports = listField(spec, 'ports').filter(isJsonObject);
  const type = stringField(spec, 'type') ?? '';
  const isOpen = spec.clusterIP === 'None' || type === 'ExternalName';
  return [
    ...(ports.length === 0 && !isOpen ? [requiredField('spec.ports')] : []),
    ...typeErrors(spec, type),
    ...portsErrors(ports),
    ...labelErrors(objectField(spec, 'selector') ?? {}, 'spec.selector'),
    ...affinityErrors(spec),
    ...(type === 'ExternalName' ? [] : addressErrors(spec)),
    ...(types.includes(type) ? [] : [unsupportedValue('spec.type', type, types)]),
    ...repeatedErrors(ports, type),
    ...balancerErrors(spec, type),
    ...policyErrors(spec, type),
    ...errorsOf(serviceChecks, spec, 'spec'),
  ];
}

function typeErrors(spec: JsonObject, type: string): readonly FieldError[] {
  if (type !== 'ExternalName') {
    const isWrong = spec.clusterIP === 'None' && (type === 'LoadBalancer' || type === 'NodePort');
    const detail = `may not be set to 'None' for ${type} services`;
    return isWrong ? [invalidField('spec.clusterIPs[0]', 'None', detail)] : [];
  }
  const name = (stringField(spec, 'externalName') ?? '').replace(/\.$/, '');
  const detail = 'may not be set for ExternalName services';
  return [
    ...(addressesOf(spec).length > 0 ? [forbiddenField('spec.clusterIPs', detail)] : []),
    ...['ipFamilies', 'ipFamilyPolicy']
      .filter((field) => spec[field] !== undefined)
      .map((field) => forbiddenField(`spec.${field}`, detail)),
    ...(name === ''
      ? [requiredField('spec.externalName')]
      : dnsSubdomain(name).map((message) => invalidField('spec.externalName', name, message))),
  ];
}

function portsErrors(ports: readonly JsonObject[]): readonly FieldError[] {
  const known = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `spec.ports[${index}]`;
    const name = stringField(port, 'name') ?? '';
    const number = Number(port.port ?? 0);
    const protocol = stringField(port, 'appProtocol');
    const isKnown = name !== '' && known.has(name);
    known.add(name);
    return [
      ...(name === '' && ports.length > 1 ? [requiredField(`${at}.name`)] : []),
      ...(name === ''
        ? []
        : dnsLabel(name).map((message) => invalidField(`${at}.name`, name, message))),
      ...(isKnown ? [duplicateField(`${at}.name`, name)] : []),
      ...portNumber(number).map((message) => invalidField(`${at}.port`, number, message)),
      ...protocolErrors(port, at),
      ...portErrors(port.targetPort, `${at}.targetPort`),
      ...(protocol === undefined
        ? []
        : qualifiedName(protocol).map((message) =>
            invalidField(`${at}.appProtocol`, protocol, message),
          )),
    ];
  });
}

function affinityErrors(spec: JsonObject): readonly FieldError[] {
  const affinity = stringField(spec, 'sessionAffinity') ?? '';
  if (!affinities.includes(affinity))
    return [unsupportedValue('spec.sessionAffinity', affinity, affinities)];
  const client = objectField(objectField(spec, 'sessionAffinityConfig') ?? {}, 'clientIP') ?? {};
  const seconds = client.timeoutSeconds;
  if (typeof seconds !== 'number' || (seconds > 0 && seconds <= longestAffinitySeconds)) return [];
  const detail = `must be greater than 0 and less than ${longestAffinitySeconds}`;
  return [invalidField('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, detail)];
}

/** The requested addresses; the first one has two fields. */
function addressesOf(spec: JsonObject): readonly Json[] {
  const list = listField(spec, 'clusterIPs');
  const first = stringField(spec, 'clusterIP') ?? '';
  return list.length === 0 && first !== '' ? [first] : list;
}

/** Errors of the addresses and their families, which no update is checked beyond. */
export function addressErrors(spec: JsonObject): readonly FieldError[] {
  const addresses = addressesOf(spec);
  const first = stringField(spec, 'clusterIP') ?? '';
  const at = 'spec.clusterIPs';
  const isNone = addresses[0] === 'None';
  const malformed = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  const wrong = addresses.flatMap((address, index) =>
    (index === 0 && isNone) || isIpAddress(String(address))
      ? []
      : [invalidField(`${at}[${index}]`, address, malformed)],
  );
  return [
    ...(first !== '' && addresses[0] !== first
      ? [invalidField(at, addresses, 'first value must match `clusterIP`')]
      : []),
    ...(first === '' && addresses.length > 0
      ? [invalidField(at, addresses, 'must be empty when `clusterIP` is not specified')]
      : []),
    ...(isNone && addresses.length > 1
      ? [invalidField(at, addresses, "'None' must be the first and only value")]
      : []),
    ...errorsOf(familyChecks, spec, 'spec'),
    ...wrong,
    ...(addresses.length > 2 ? [invalidField(at, addresses, 'may only hold up to 2 values')] : []),
    ...(wrong.length === 0 && !isNone && addresses.length > 1 && !isDual(addresses)
      ? [invalidField(at, addresses, 'may specify no more than one IP for each IP family')]
      : []),
  ];
}

function isDual(addresses: readonly Json[]): boolean {
  return new Set(addresses.map((address) => String(address).includes(':'))).size === 2;
}

function repeatedErrors(ports: readonly JsonObject[], type: string): readonly FieldError[] {
  const known = new Set<string>();
  const unused = "may not be used when `type` is 'ClusterIP'";
  return ports.flatMap((port, index) => {
    const at = `spec.ports[${index}]`;
    const { protocol = '', nodePort = 0 } = port;
    const key = `${protocol} ${port.port}`;
    const isKnown = known.has(key);
    known.add(key);
    return [
      ...(nodePort !== 0 && type === 'ClusterIP' ? [forbiddenField(`${at}.nodePort`, unused)] : []),
      ...(isKnown ? [repeatedPort(port, at)] : []),
    ];
  });
}

/** The server prints its own struct. */
function repeatedPort({ protocol = '', port = 0 }: JsonObject, field: string): FieldError {
  const shown = JSON.stringify({
    Name: '',
    Protocol: protocol,
    AppProtocol: null,
    Port: port,
    TargetPort: 0,
    NodePort: 0,
  });
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${shown}`, field };
}

function balancerErrors(spec: JsonObject, type: string): readonly FieldError[] {
  if (type === 'LoadBalancer') return errorsOf(balancerChecks, spec, 'spec');
  const detail = "may only be used when `type` is 'LoadBalancer'";
  return ['allocateLoadBalancerNodePorts', 'loadBalancerClass', 'loadBalancerSourceRanges']
    .filter((name) => !isEmpty(spec[name]) || spec[name] === false)
    .map((name) =>
      forbiddenField(`spec.${name.replace('loadBalancerS', 'LoadBalancerS')}`, detail),
    );
}

const balancerChecks = fields({
  'loadBalancerSourceRanges[]': ({ value, at, owner }) =>
    cidr({ value: String(value).trim(), at: at.replace('loadB', 'LoadB'), owner }),
  loadBalancerClass: optional(qualified),
});

const familyChecks = fields({
  'ipFamilies[]': oneOf('IPv4', 'IPv6'),
  ipFamilies: ({ value, at }) =>
    (Array.isArray(value) ? value : []).flatMap((family: Json, index, all) =>
      all.indexOf(family) < index ? [duplicateField(`${at}[${index}]`, family)] : [],
    ),
  ipFamilyPolicy: optional(oneOf('PreferDualStack', 'RequireDualStack', 'SingleStack')),
});

const serviceChecks = fields({
  'externalIPs[]': (found) => [
    ...ipAddress(found),
    ...(isIpAddress(String(found.value)) ? endpointAddress(found) : []),
  ],
  trafficDistribution: optional(oneOf('PreferClose', 'PreferSameNode', 'PreferSameZone')),
});

function policyErrors(spec: JsonObject, type: string): readonly FieldError[] {
  const [outside = '', inside] = ['externalTrafficPolicy', 'internalTrafficPolicy'].map((name) =>
    stringField(spec, name),
  );
  const isOutside =
    type === 'NodePort' ||
    type === 'LoadBalancer' ||
    (type === 'ClusterIP' && listField(spec, 'externalIPs').length > 0);
  const at = 'spec.externalTrafficPolicy';
  const misplaced = 'may only be set for externally-accessible services';
  return [
    ...(outside !== '' && !isOutside ? [invalidField(at, outside, misplaced)] : []),
    ...(isOutside && outside !== '' && !policies.includes(outside)
      ? [unsupportedValue(at, outside, policies)]
      : []),
    ...(inside === undefined || policies.includes(inside)
      ? []
      : [unsupportedValue('spec.internalTrafficPolicy', inside, policies)]),
  ];
}
