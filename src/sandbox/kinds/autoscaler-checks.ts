import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, stringField } from '../json-fields.ts';
import { dnsLabel, pathSegment } from '../metadata/name-rules.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from '../status/field-error.ts';
import {
  type Check,
  errorsOf,
  fields,
  named,
  number,
  oneOf,
  optional,
  required,
} from './field-checks.ts';
import { billionthsOf, containerResourceErrors, isNegativeQuantity } from './resource-rules.ts';

const apiVersion: Check = ({ value = '', at }) => {
  const version = String(value);
  const slashes = version.split('/').length - 1;
  if (slashes > 1) return [invalidField(at, version, `unexpected GroupVersion string: ${version}`)];
  const hasGroup = slashes === 1 && !version.startsWith('/');
  return hasGroup ? [] : [invalidField(at, version, 'apiVersion must specify API group')];
};

const segment = [required(), named(pathSegment)];
const identity = { kind: segment, name: segment };
const reference = fields({ ...identity, apiVersion });
const struct =
  (check: Check): Check =>
  (found) =>
    check({ ...found, value: found.value ?? {} });

const positive: Check = optional(({ value, at }) =>
  billionthsOf(value) > 0n ? [] : [invalidField(at, value, 'must be positive')],
);

const targetTypes = ['Utilization', 'Value', 'AverageValue'];

const target = struct(
  fields({
    type: [
      required('must specify a metric target type'),
      ({ value = '', at }) =>
        targetTypes.includes(String(value))
          ? []
          : [invalidField(at, value, 'must be either Utilization, Value, or AverageValue')],
    ],
    value: positive,
    averageValue: positive,
    averageUtilization: optional(number((value) => value >= 1, 'must be greater than 0')),
  }),
);

/** Which of two values of a target must, and may, be set. */
function targetOf(
  names: readonly string[],
  detail: string,
  conflict?: readonly [string, string],
): Check {
  return ({ value, at }) => {
    const object = isJsonObject(value) ? value : {};
    const present = names.filter((name) => object[name] !== undefined);
    if (present.length === 0) return [requiredField(`${at}.${names[0]}`, detail)];
    if (present.length === 1 || conflict === undefined) return [];
    return [forbiddenField(`${at}.${conflict[0]}`, conflict[1])];
  };
}

const metric = { 'metric!.name': [required('must specify a metric name'), named(pathSegment)] };
const both = 'may not set both a target raw value and a target utilization';
const resourceTarget = {
  target: [
    target,
    targetOf(
      ['averageUtilization', 'averageValue'],
      'must set either a target raw value or a target utilization',
      ['averageValue', both],
    ),
  ],
};

/** By the order in which the server finds them. */
const sources: Readonly<Record<string, Check>> = {
  object: fields({
    describedObject: struct(fields(identity)),
    ...metric,
    target: [
      target,
      targetOf(['averageValue', 'value'], 'must set either a target value or averageValue'),
    ],
  }),
  external: fields({
    ...metric,
    target: [
      target,
      targetOf(
        ['averageValue', 'value'],
        'must set either a target value for metric or a per-pod target',
        ['value', 'may not set both a target value for metric and a per-pod target'],
      ),
    ],
  }),
  pods: fields({
    ...metric,
    target: [target, targetOf(['averageValue'], 'must specify a positive target averageValue')],
  }),
  resource: fields({ name: required('must specify a resource name'), ...resourceTarget }),
  containerResource: fields({
    name: [
      required('must specify a resource name'),
      ({ value = '', at }) => (value === '' ? [] : containerResourceErrors(String(value), at)),
    ],
    container: [required('must specify a container'), named(dnsLabel)],
    ...resourceTarget,
  }),
};

const types = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

const metricSpec: Check = ({ value, at }) => {
  const spec = isJsonObject(value) ? value : {};
  const type = stringField(spec, 'type') ?? '';
  const expected = types.includes(type) ? type.charAt(0).toLowerCase() + type.slice(1) : '';
  const present = Object.keys(sources).filter((name) => isJsonObject(spec[name]));
  const [first = ''] = present;
  const typeAt = { value: type, at: `${at}.type`, owner: spec };
  return [
    ...required('must specify a metric source type')(typeAt),
    // The server checks it twice.
    ...oneOf(...types)(typeAt),
    ...oneOf(...types)(typeAt),
    ...(sources[first]?.({ value: spec[first], at: `${at}.${first}`, owner: spec }) ?? []),
    ...(expected === '' || present.includes(expected)
      ? []
      : [
          requiredField(
            `${at}.${expected}`,
            'must populate information for the given metric source',
          ),
        ]),
    ...present
      .filter((name) => present.length > 1 && name !== expected)
      .map((name) => forbiddenField(`${at}.${name}`, 'must populate the given metric source only')),
  ];
};

const policy = fields({
  type: oneOf('Percent', 'Pods'),
  value: number((value) => value > 0, 'must be greater than zero'),
  periodSeconds: [
    number((value) => value > 0, 'must be greater than zero'),
    number((value) => value <= 1800, 'must be less than or equal to 1800'),
  ],
});

const scalingRules = fields({
  stabilizationWindowSeconds: optional((found) => [
    ...number((value) => value >= 0, 'must be greater than or equal to zero')(found),
    ...number((value) => value <= 3600, 'must be less than or equal to 3600')(found),
  ]),
  selectPolicy: optional(oneOf('Disabled', 'Max', 'Min')),
  policies: required('must specify at least one Policy'),
  'policies[]': policy,
  tolerance: ({ value, at }) =>
    isNegativeQuantity(value)
      ? [invalidField(at, value, 'must be greater than or equal to 0')]
      : [],
});

const autoscalerChecks = fields({
  scaleTargetRef: struct(reference),
  'metrics[]': metricSpec,
  'behavior.scaleUp': scalingRules,
  'behavior.scaleDown': scalingRules,
});

/** Validates the spec of an autoscaler. */
export function autoscalerErrors(spec: JsonObject): readonly FieldError[] {
  const [least, most] = [Number(spec.minReplicas ?? 1), Number(spec.maxReplicas ?? 0)];
  const [few, many] = ['must be greater than or equal to 1', 'must be set and greater than 0'];
  const reversed = 'must be greater than or equal to `minReplicas`';
  const toZero =
    'must specify at least one Object or External metric to support scaling to zero replicas';
  const isCounted = listField(spec, 'metrics').some(
    (each) => isJsonObject(each) && ['Object', 'External'].includes(String(each.type)),
  );
  return [
    ...(least < 1 ? [invalidField('spec.minReplicas', least, few)] : []),
    ...(most === 0 ? [requiredField('spec.maxReplicas', many)] : []),
    ...(most < 0 ? [invalidField('spec.maxReplicas', most, few)] : []),
    ...(most < least ? [invalidField('spec.maxReplicas', most, reversed)] : []),
    ...errorsOf(autoscalerChecks, spec, 'spec'),
    ...(least === 0 && !isCounted ? [forbiddenField('spec.metrics', toZero)] : []),
  ];
}
