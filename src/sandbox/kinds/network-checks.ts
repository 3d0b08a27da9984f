import { isJsonObject, type Json } from '#util/json.ts';
import { listField, stringField } from '../json-fields.ts';
import {
  dnsLabel,
  dnsSubdomain,
  domainPath,
  isCidr,
  isIpAddress,
  labelValueRule,
  pathSegment,
  portName,
  portNumber,
} from '../metadata/name-rules.ts';
import { labelErrors } from '../metadata/validate-metadata.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from '../status/field-error.ts';
import {
  type Check,
  fields,
  matching,
  named,
  oneOf,
  optional,
  required,
  unlessEmpty,
} from './field-checks.ts';
import { ipAddress, qualified } from './pod-checks.ts';
import { cidr, unique } from './policy-checks.ts';
import { labelSelector } from './selector-rules.ts';

const protocols = oneOf('TCP', 'UDP', 'SCTP');
const sortedProtocols = oneOf('SCTP', 'TCP', 'UDP');

/** A port, and the end of a range of ports. */
const policyPort: Check = ({ value, at, owner }) => {
  const { endPort } = owner;
  const end = (detail: string, shown: Json | undefined = endPort) =>
    endPort === undefined ? [] : [invalidField(at.replace(/port$/, 'endPort'), shown, detail)];
  if (value === undefined || value === null)
    return end('may not be specified when `port` is not specified');
  if (typeof value === 'string')
    return [
      ...end('may not be specified when `port` is non-numeric'),
      ...portName(value).map((message) => invalidField(at, value, message)),
    ];
  const port = Number(value);
  return [
    ...portNumber(port).map((message) => invalidField(at, port, message)),
    ...(Number(endPort ?? port) < port ? end('must be greater than or equal to `port`', port) : []),
    ...(endPort === undefined
      ? []
      : portNumber(Number(endPort)).flatMap((message) => end(message))),
  ];
};

const block: Check = ({ value, at, owner }) => {
  const { cidr: range = '', except } = isJsonObject(value) ? value : {};
  if (range === '') return [requiredField(`${at}.cidr`)];
  const errors = cidr({ value: range, at: `${at}.cidr`, owner });
  if (errors.length > 0) return errors;
  return (Array.isArray(except) ? except : []).flatMap((item: Json, index: number) => {
    const place = `${at}.except[${index}]`;
    if (!isCidr(String(item))) return cidr({ value: item, at: place, owner });
    return isWithin(String(item), String(range))
      ? []
      : [invalidField(place, item, 'must be a strict subset of `cidr`')];
  });
};

/** Whether a range is a part of another one; addresses of version 6 are compared by their size only. */
function isWithin(part: string, whole: string): boolean {
  const [[inner = '', innerSize = 0], [outer = '', outerSize = 0]] = [
    part.split('/'),
    whole.split('/'),
  ];
  if (Number(innerSize) <= Number(outerSize)) return false;
  if (inner.includes(':') || outer.includes(':'))
    return inner.includes(':') === outer.includes(':');
  const bits = (text: string) =>
    text
      .split('.')
      .map((byte) => Number(byte).toString(2).padStart(8, '0'))
      .join('')
      .slice(0, Number(outerSize));
  return bits(inner) === bits(outer);
}

const peer: Check = ({ value, at }) => {
  const item = isJsonObject(value) ? value : {};
  const present = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((name) =>
    isJsonObject(item[name]),
  );
  return [
    ...peerParts({ value: item, at, owner: item }),
    ...(present.length === 0 ? [requiredField(at, 'must specify a peer')] : []),
    ...(present.length > 1 && present.includes('ipBlock')
      ? [forbiddenField(at, 'may not specify both ipBlock and another peer')]
      : []),
  ];
};

const peerParts = fields({
  podSelector: labelSelector,
  namespaceSelector: labelSelector,
  ipBlock: optional(block),
});

const policyTypes: Check = ({ value, at }) => {
  const list = Array.isArray(value) ? value : [];
  if (list.length > 2) return [invalidField(at, list, 'may not specify more than two policyTypes')];
  return list.flatMap((type: Json, index: number) =>
    oneOf('Ingress', 'Egress')({ value: type, at: `${at}[${index}]`, owner: {} }),
  );
};

export const policyChecks = fields({
  'spec.podSelector': labelSelector,
  'spec.ingress[].ports[].protocol': optional(protocols),
  'spec.ingress[].ports[].port': policyPort,
  'spec.ingress[].from[]': peer,
  'spec.egress[].ports[].protocol': optional(protocols),
  'spec.egress[].ports[].port': policyPort,
  'spec.egress[].to[]': peer,
  'spec.policyTypes': policyTypes,
});

const longestController = 250;

const controller: Check = ({ value = '', at }) => {
  const text = String(value);
  const [host = ''] = text.split('/');
  if (text === '') return [requiredField(at)];
  return [
    ...(text.length > longestController
      ? [
          {
            reason: 'FieldValueTooLong',
            message: `Too long: may not be more than ${longestController} bytes`,
            field: at,
          },
        ]
      : []),
    ...domainPath(text).map((message) =>
      invalidField(at, message.startsWith('must be a domain') ? text : host, message),
    ),
  ];
};

const parameters: Check = ({ value, at }) => {
  if (!isJsonObject(value)) return [];
  const { scope, namespace } = value;
  const isNamespaced = scope === 'Namespace';
  return [
    ...parameterNames({ value, at, owner: value }),
    ...oneOf('Cluster', 'Namespace')({ value: scope, at: `${at}.scope`, owner: value }),
    ...(isNamespaced && namespace === undefined
      ? [requiredField(`${at}.namespace`, "`parameters.scope` is set to 'Namespace'")]
      : []),
    ...(isNamespaced
      ? matching(dnsLabel)({ value: namespace, at: `${at}.namespace`, owner: value })
      : []),
    ...(scope === 'Cluster' && namespace !== undefined
      ? [forbiddenField(`${at}.namespace`, "`parameters.scope` is set to 'Cluster'")]
      : []),
  ];
};

const parameterNames = fields({
  apiGroup: optional(matching(dnsSubdomain)),
  kind: [required(), named(pathSegment)],
  name: [required(), named(pathSegment)],
});

export const ingressClassChecks = fields({
  'spec!.controller': controller,
  'spec.parameters': optional(parameters),
});

/** Addresses that cannot be those of an endpoint. */
const special: readonly (readonly [pattern: RegExp, detail: (ip: string) => string])[] = [
  [/^(?:0\.0\.0\.0|::)$/, (ip) => `may not be unspecified (${ip})`],
  [/^(?:127\.|::1$)/, () => 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [
    /^(?:169\.254\.|fe80:)/i,
    () => 'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  ],
  [
    /^(?:224\.0\.0\.|ff02:)/i,
    () => 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
  ],
];

export const endpointAddress: Check = ({ value = '', at }) => {
  const ip = String(value);
  if (!isIpAddress(ip)) return [invalidField(at, ip, 'must be a valid IP address')];
  return special
    .filter(([pattern]) => pattern.test(ip))
    .map(([, detail]) => invalidField(at, ip, detail(ip)));
};

const address = {
  ip: [ipAddress, endpointAddress],
  hostname: unlessEmpty(matching(dnsLabel)),
  nodeName: optional(matching(dnsSubdomain)),
};

const subsetPort: Check = ({ value, at, owner }) => {
  const port = isJsonObject(value) ? value : {};
  const [name, protocol] = [stringField(port, 'name') ?? '', port.protocol];
  const mustHaveName = listField(owner, 'ports').length > 1;
  const number = Number(port.port ?? 0);
  return [
    ...(name === '' && mustHaveName
      ? [requiredField(`${at}.name`)]
      : named(dnsLabel)({ value: name, at: `${at}.name`, owner: port })),
    ...portNumber(number).map((message) => invalidField(`${at}.port`, number, message)),
    ...sortedProtocols({ value: protocol, at: `${at}.protocol`, owner: port }),
    ...optional(qualified)({ value: port.appProtocol, at: `${at}.appProtocol`, owner: port }),
  ];
};

export const endpointsChecks = fields({
  'subsets[]': ({ value, at }) => {
    const subset = isJsonObject(value) ? value : {};
    const isEmpty =
      listField(subset, 'addresses').length + listField(subset, 'notReadyAddresses').length === 0;
    return isEmpty ? [requiredField(at, 'must specify `addresses` or `notReadyAddresses`')] : [];
  },
  'subsets[].addresses[]': fields(address),
  'subsets[].notReadyAddresses[]': fields(address),
  'subsets[].ports[]': subsetPort,
});

/** Addresses of endpoints by the type of their slice. */
const sliceAddresses =
  (type: string): Check =>
  ({ value, at, owner }) => {
    const text = String(value ?? '');
    if (type === 'FQDN') return domainErrors(text, at);
    const family = type === 'IPv4' ? 'an IPv4' : 'an IPv6';
    if (!isIpAddress(text)) return ipAddress({ value: text, at, owner });
    const isOther = text.includes(':') === (type === 'IPv4');
    return [
      ...(isOther
        ? [invalidField(at.replace(/\[\d+\]$/, ''), text, `must be ${family} address`)]
        : []),
      ...endpointAddress({ value: text, at, owner }),
    ];
  };

function domainErrors(text: string, at: string): readonly FieldError[] {
  const name = text.replace(/\.$/, '');
  if (text === '') return [requiredField(at)];
  const malformed = dnsSubdomain(name);
  if (malformed.length > 0) return [invalidField(at, name, malformed.join(','))];
  const labels = name.split('.');
  if (labels.length < 2)
    return [
      invalidField(at, name, 'should be a domain with at least two segments separated by dots'),
    ];
  const wrong = labels.find((label) => dnsLabel(label).length > 0);
  return wrong === undefined ? [] : [invalidField(at, wrong, dnsLabel(wrong).join(','))];
}

const endpoint = (type: string) =>
  fields({
    addresses: required('must contain at least 1 address'),
    ...(['IPv4', 'IPv6', 'FQDN'].includes(type) ? { 'addresses[]': sliceAddresses(type) } : {}),
    nodeName: optional(matching(dnsSubdomain)),
    deprecatedTopology: optional(({ value, at }) =>
      labelErrors(isJsonObject(value) ? value : {}, at),
    ),
    hostname: optional(matching(dnsLabel)),
    'hints.forZones': unique('name'),
    'hints.forZones[].name': matching(labelValueRule),
    'hints.forNodes': unique('name'),
    'hints.forNodes[].name': matching(dnsSubdomain),
  });

export const sliceChecks = fields({
  addressType: (found) =>
    required()(found).concat(unlessEmpty(oneOf('FQDN', 'IPv4', 'IPv6'))(found)),
  ports: unique('name'),
  'ports[].name': unlessEmpty(matching(dnsLabel)),
  'ports[].protocol': sortedProtocols,
  'ports[].appProtocol': optional(qualified),
  'endpoints[]': ({ value, at, owner }) =>
    endpoint(String(owner.addressType ?? ''))({ value: value ?? {}, at, owner }),
});
