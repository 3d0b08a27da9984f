import { isJsonObject, type Json } from '#util/json.ts';
import { listField } from '../json-fields.ts';
import {
  dnsLabel,
  dnsSubdomain,
  isIpAddress,
  labelValueRule,
  qualifiedName,
} from '../metadata/name-rules.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';
import {
  between,
  type Check,
  fields,
  isEmpty,
  matching,
  number,
  oneOf,
  optional,
  required,
} from './field-checks.ts';
import { labelSelector } from './selector-rules.ts';

const malformedAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** An address of either family; an absent one is empty. */
export const ipAddress: Check = ({ value = '', at }) =>
  isIpAddress(String(value)) ? [] : [invalidField(at, value, malformedAddress)];

/** A qualified name; an absent one is empty. */
export const qualified: Check = ({ value = '', at, owner }) =>
  matching(qualifiedName)({ value, at, owner });

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const toleration: Check = ({ value, at }) => {
  const item = isJsonObject(value) ? value : {};
  const [key, operator, effect, text] = ['key', 'operator', 'effect', 'value'].map((name) =>
    String(item[name] ?? ''),
  );
  const operators = ['Equal', 'Exists', 'Lt', 'Gt'];
  const all =
    'operator must be Exists when `key` is empty, which means "match all values and all keys"';
  const malformed = labelValueRule(text ?? '');
  return [
    ...(key === '' ? [] : qualified({ value: key, at: `${at}.key`, owner: item })),
    ...(key === '' && operator !== 'Exists' ? [invalidField(`${at}.operator`, operator, all)] : []),
    ...(item.tolerationSeconds !== undefined && effect !== 'NoExecute'
      ? [
          invalidField(
            `${at}.effect`,
            effect,
            "effect must be 'NoExecute' when `tolerationSeconds` is set",
          ),
        ]
      : []),
    ...((operator === '' || operator === 'Equal') && malformed.length > 0
      ? [invalidField(`${at}.operator`, text, malformed.join(';'))]
      : []),
    ...(operator === 'Exists' && text !== ''
      ? [invalidField(`${at}.operator`, text, "value must be empty when `operator` is 'Exists'")]
      : []),
    ...(operator === '' || ['Equal', 'Exists'].includes(operator ?? '')
      ? []
      : [unsupportedValue(`${at}.operator`, operator, operators.slice(0, 2))]),
    ...(effect === '' ? [] : oneOf(...effects)({ value: effect, at: `${at}.effect`, owner: item })),
  ];
};

/** How many values an operator of a node selector takes. */
function operatorErrors(operator: string, count: number, at: string): readonly FieldError[] {
  const [values, misplaced] = [
    `${at}.values`,
    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
  ];
  const [many, one] = [
    "must be specified when `operator` is 'In' or 'NotIn'",
    "must be specified single value when `operator` is 'Lt' or 'Gt'",
  ];
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count === 0 ? [requiredField(values, many)] : [];
    case 'Exists':
    case 'DoesNotExist':
      return count > 0 ? [forbiddenField(values, misplaced)] : [];
    case 'Gt':
    case 'Lt':
      return count === 1 ? [] : [requiredField(values, one)];
    default:
      return [invalidField(`${at}.operator`, operator, 'not a valid selector operator')];
  }
}

function nodeExpression(checksValues: boolean): Check {
  return ({ value, at }) => {
    const item = isJsonObject(value) ? value : {};
    const values = listField(item, 'values');
    return [
      ...operatorErrors(String(item.operator ?? ''), values.length, at),
      ...qualified({ value: item.key, at: `${at}.key`, owner: item }),
      ...(checksValues ? values : []).flatMap((text, index) =>
        matching(labelValueRule)({ value: text, at: `${at}.values[${index}]`, owner: item }),
      ),
    ];
  };
}

/** The only field of nodes that can be selected is their name. */
const nodeField: Check = ({ value, at }) => {
  const item = isJsonObject(value) ? value : {};
  const values = listField(item, 'values');
  const isKnown = ['In', 'NotIn'].includes(String(item.operator ?? ''));
  const detail =
    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
  return [
    ...(isKnown
      ? []
      : [invalidField(`${at}.operator`, item.operator ?? '', 'not a valid selector operator')]),
    ...(isKnown && values.length !== 1 ? [requiredField(`${at}.values`, detail)] : []),
    ...(item.key === 'metadata.name'
      ? values.flatMap((text, index) =>
          matching(dnsSubdomain)({ value: text, at: `${at}.values[${index}]`, owner: item }),
        )
      : [invalidField(`${at}.key`, item.key ?? '', 'not a valid field selector key')]),
  ];
};

/** A selector of nodes. */
export const nodeSelector = fields({
  nodeSelectorTerms: required('must have at least one node selector term'),
  'nodeSelectorTerms[].matchExpressions[]': nodeExpression(true),
  'nodeSelectorTerms[].matchFields[]': nodeField,
});

const weight = number((value) => value > 0 && value <= 100, 'must be in the range 1-100');

const affinityTerm: Check = (found) =>
  fields({
    labelSelector,
    namespaceSelector: labelSelector,
    'namespaces[]': ({ value, at }) =>
      matching(dnsLabel)({ value, at: at.replace(/s\[\d+\]$/, ''), owner: {} }),
    topologyKey: [required('can not be empty'), qualified],
  })({ ...found, value: found.value ?? {} });

const podAffinity = fields({
  'requiredDuringSchedulingIgnoredDuringExecution[]': affinityTerm,
  'preferredDuringSchedulingIgnoredDuringExecution[].weight': weight,
  'preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm': affinityTerm,
});

const actions = ['DoNotSchedule', 'ScheduleAnyway'];
const inclusion = optional(oneOf('Honor', 'Ignore'));

const spread = fields({
  maxSkew: number((value) => value > 0, 'must be greater than zero'),
  topologyKey: required('can not be empty'),
  whenUnsatisfiable: oneOf(...actions),
  minDomains: optional((found) => [
    ...number((value) => value > 0, 'must be greater than zero')(found),
    ...(found.owner.whenUnsatisfiable === 'DoNotSchedule'
      ? []
      : [
          invalidField(
            found.at,
            found.value,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${found.owner.whenUnsatisfiable ?? ''}`,
          ),
        ]),
  ]),
  nodeAffinityPolicy: inclusion,
  nodeTaintsPolicy: inclusion,
  labelSelector,
});

/** Each pair of topology and action once. */
const spreads: Check = ({ value, at }) => {
  const list = (Array.isArray(value) ? value : []).map((item: Json) =>
    isJsonObject(item) ? item : {},
  );
  const keyOf = (item: (typeof list)[number]) =>
    `{${item.topologyKey ?? ''}, ${item.whenUnsatisfiable ?? ''}}`;
  return list.flatMap((item, index) => [
    ...spread({ value: item, at: `${at}[${index}]`, owner: item }),
    ...(list.slice(index + 1).some((other) => keyOf(other) === keyOf(item))
      ? [duplicateField(`${at}[${index}].{topologyKey, whenUnsatisfiable}`, keyOf(item))]
      : []),
  ]);
};

const dnsConfig: Check = ({ value, at, owner }) => {
  const none = owner.dnsPolicy === 'None';
  if (value === undefined || value === null)
    return none ? [requiredField(at, 'must provide `dnsConfig` when `dnsPolicy` is None')] : [];
  const config = isJsonObject(value) ? value : {};
  if (none && listField(config, 'nameservers').length === 0)
    return [
      requiredField(
        `${at}.nameservers`,
        'must provide at least one DNS nameserver when `dnsPolicy` is None',
      ),
    ];
  return fields({
    'nameservers[]': ipAddress,
    'searches[]': ({ value: search, at: place }) => searchErrors(String(search ?? ''), place),
    'options[]': ({ value: option, at: place }) =>
      isJsonObject(option) && !isEmpty(option.name)
        ? []
        : [requiredField(place, 'must not be empty')],
  })({ value: config, at, owner });
};

/** A search path may end with a dot, and its labels may begin with an underscore. */
function searchErrors(search: string, at: string): readonly FieldError[] {
  const text = search.replace(/\.$/, '');
  if (
    search === '.' ||
    dnsSubdomain(text.replaceAll(/(^|\.)_/g, '$1a').replaceAll('_', '-')).length === 0
  )
    return [];
  const detail =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9_]([-_a-z0-9]*[a-z0-9])?(\\.[a-z0-9_]([-_a-z0-9]*[a-z0-9])?)*')";
  return [
    ...(text.length > 253 ? [invalidField(at, text, 'must be no more than 253 characters')] : []),
    ...(/^[a-z0-9_.-]+$/.test(text) && text.length > 253 ? [] : [invalidField(at, text, detail)]),
  ];
}

const operatingSystem: Check = ({ value, at }) => {
  if (!isJsonObject(value)) return [];
  const { name = '' } = value;
  if (name === '') return [requiredField(`${at}.name`)];
  return ['linux', 'windows'].includes(String(name))
    ? []
    : [unsupportedValue(at, name, ['linux', 'windows'])];
};

const gates: Check = ({ value, at }) => {
  const names = (Array.isArray(value) ? value : []).map((gate: Json) =>
    isJsonObject(gate) ? String(gate.name ?? '') : '',
  );
  return names.flatMap((name, index) => [
    ...qualified({ value: name, at: `${at}[${index}]`, owner: {} }),
    ...(names.indexOf(name) < index ? [duplicateField(`${at}[${index}]`, name)] : []),
  ]);
};

const id = optional(between(0, 2_147_483_647));

const security = {
  fsGroup: id,
  runAsUser: id,
  runAsGroup: id,
  'supplementalGroups[]': between(0, 2_147_483_647),
  fsGroupChangePolicy: optional(oneOf('Always', 'OnRootMismatch')),
  seccompProfile: seccomp,
};

function seccomp({
  value,
  at,
}: {
  readonly value: Json | undefined;
  readonly at: string;
}): readonly FieldError[] {
  if (!isJsonObject(value)) return [];
  const { type = '', localhostProfile } = value;
  return [
    ...(type === ''
      ? [requiredField(`${at}.type`, 'type is required when seccompProfile is set')]
      : oneOf(
          'Localhost',
          'RuntimeDefault',
          'Unconfined',
        )({ value: type, at: `${at}.type`, owner: value })),
    ...(type === 'Localhost' && localhostProfile === undefined
      ? [requiredField(`${at}.localhostProfile`, 'must be set when seccomp type is Localhost')]
      : []),
    ...(type !== 'Localhost' && localhostProfile !== undefined
      ? [
          invalidField(
            `${at}.localhostProfile`,
            value,
            'can only be set when seccomp type is Localhost',
          ),
        ]
      : []),
  ];
}

/** Checks of the security context of a container. */
export const securityChecks = fields({
  runAsUser: id,
  runAsGroup: id,
  procMount: optional(oneOf('Default', 'Unmasked')),
  seccompProfile: seccomp,
});

/** Checks of the spec of a pod: scheduling, names, DNS. */
export const podChecks = fields({
  'tolerations[]': toleration,
  'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution': optional(nodeSelector),
  'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].weight': weight,
  'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].preference.matchExpressions[]':
    nodeExpression(false),
  'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].preference.matchFields[]':
    nodeField,
  'affinity.podAffinity': podAffinity,
  'affinity.podAntiAffinity': podAffinity,
  topologySpreadConstraints: spreads,
  dnsConfig,
  'hostAliases[].ip': ipAddress,
  'hostAliases[].hostnames[]': matching(dnsSubdomain),
  'readinessGates[].conditionType': qualified,
  schedulingGates: gates,
  os: operatingSystem,
  preemptionPolicy: optional(oneOf('PreemptLowerPriority', 'Never')),
  runtimeClassName: optional(matching(dnsSubdomain)),
  securityContext: fields(security),
});
