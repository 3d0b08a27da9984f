import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { isCidr, labelValueRule, qualifiedName } from '../metadata/name-rules.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  invalidStruct,
  requiredField,
} from '../status/field-error.ts';
import {
  type Check,
  type Found,
  fields,
  matching,
  oneOf,
  optional,
  required,
} from './field-checks.ts';
import {
  billionthsOf,
  containerResourceErrors,
  quantityErrors,
  quotaResourceErrors,
  resourceNameErrors,
} from './resource-rules.ts';

/** Validates the names of the resources in a map of quantities. */
function resourceNames(rule: (name: string, at: string) => readonly FieldError[]): Check {
  return ({ value, at }) =>
    Object.keys(isJsonObject(value) ? value : {}).flatMap((name) => rule(name, `${at}[${name}]`));
}

/** Validates the quantities of a map by the names of their resources. */
function quantities(placeOf: (at: string, name: string) => string): Check {
  return ({ value, at }) =>
    Object.entries(isJsonObject(value) ? value : {}).flatMap(([name, amount]) =>
      quantityErrors(name, amount, placeOf(at, name)),
    );
}

const podScopes = [
  'Terminating',
  'NotTerminating',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
];
const scopes = [...podScopes, 'BestEffort', 'VolumeAttributesClass'];
const podResources = /^(?:pods|(?:limits\.|requests\.)?(?:cpu|memory))$/;
const claimResources = /^(?:persistentvolumeclaims|requests\.storage)$/;

/** Whether a quota with this scope can limit a resource. */
function isLimited(scope: string, resource: string): boolean {
  if (podScopes.includes(scope)) return podResources.test(resource);
  if (scope === 'BestEffort') return resource === 'pods';
  return scope !== 'VolumeAttributesClass' || claimResources.test(resource);
}

/** Resources of a quota that a scope does not apply to; those of other groups are not checked. */
function unlimited(spec: JsonObject, scope: string): readonly string[] {
  const hard = Object.keys(objectField(spec, 'hard') ?? {});
  return hard.filter(
    (name) =>
      quotaResourceErrors(name, '').length === 0 && !name.includes('/') && !isLimited(scope, name),
  );
}

const scopeList: Check = ({ value, at, owner }) => {
  const list = Array.isArray(value) ? value.map(String) : [];
  const has = (...names: readonly string[]) => names.every((name) => list.includes(name));
  const isConflict = has('BestEffort', 'NotBestEffort') || has('Terminating', 'NotTerminating');
  return [
    ...list.flatMap((scope) => [
      ...(scopes.includes(scope) ? [] : [invalidField(at, value, 'unsupported scope')]),
      ...unlimited(owner, scope).map(() =>
        invalidField(at, value, 'unsupported scope applied to resource'),
      ),
    ]),
    ...(isConflict ? [invalidField(at, value, 'conflicting scopes')] : []),
  ];
};

const existingScopes = [
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
];

const scopeSelector: Check = ({ value, at, owner }) =>
  listField(isJsonObject(value) ? value : {}, 'matchExpressions')
    .filter(isJsonObject)
    .flatMap((expression) => {
      const [scope = '', operator = ''] = ['scopeName', 'operator'].map(
        (name) => stringField(expression, name) ?? '',
      );
      const values = listField(expression, 'values');
      const place = `${at}.matchExpressions`;
      const only =
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
      return [
        ...(scopes.includes(scope)
          ? []
          : [invalidField(`${place}.scopeName`, scope, 'unsupported scope')]),
        ...unlimited(owner, scope).map(() =>
          invalidStruct(place, structOf(value), 'unsupported scope applied to resource'),
        ),
        ...(existingScopes.includes(scope) && operator !== 'Exists'
          ? [invalidField(`${place}.operator`, operator, only)]
          : []),
        ...scopeOperatorErrors(operator, values, place),
      ];
    });

/** A scope selector as the server prints it. */
function structOf(selector: Json | undefined): Json {
  const expressions = listField(isJsonObject(selector) ? selector : {}, 'matchExpressions');
  return {
    MatchExpressions: expressions
      .filter(isJsonObject)
      .map(({ scopeName = '', operator = '', values = null }) => ({
        ScopeName: scopeName,
        Operator: operator,
        Values: values,
      })),
  };
}

function scopeOperatorErrors(
  operator: string,
  values: readonly Json[],
  at: string,
): readonly FieldError[] {
  const few = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
  const many = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
  if (['In', 'NotIn'].includes(operator))
    return values.length > 0 ? [] : [requiredField(`${at}.values`, few)];
  if (['Exists', 'DoesNotExist'].includes(operator))
    return values.length === 0 ? [] : [invalidField(`${at}.values`, [...values], many)];
  return [invalidField(`${at}.operator`, operator, 'not a valid selector operator')];
}

export const quotaChecks = fields({
  'spec.hard': [resourceNames(quotaResourceErrors), quantities((at, name) => `${at}[${name}]`)],
  'spec.scopes': scopeList,
  'spec.scopeSelector': scopeSelector,
});

const limitTypes = ['Pod', 'Container', 'PersistentVolumeClaim'];

const limitType = matching((type) => {
  const malformed = qualifiedName(type);
  const isKnown = malformed.length > 0 || type.includes('/') || limitTypes.includes(type);
  return isKnown ? malformed : ['must be a standard limit type or fully qualified'];
});

const limit: Check = ({ value, at }) => {
  const item = isJsonObject(value) ? value : {};
  const type = stringField(item, 'type') ?? '';
  const isPod = type === 'Pod';
  const amounts = (name: string) => objectField(item, name) ?? {};
  const parts = [
    'max',
    'min',
    ...(isPod ? [] : ['default', 'defaultRequest']),
    'maxLimitRequestRatio',
  ];
  const rule = isPod || type === 'Container' ? containerResourceErrors : resourceNameErrors;
  const names = new Set(parts.flatMap((part) => Object.keys(amounts(part))));
  const misplaced = "may not be specified when `type` is 'Pod'";
  const storage = 'either minimum or maximum storage value is required, but neither was provided';
  const hasStorage = amounts('min').storage !== undefined || amounts('max').storage !== undefined;
  return [
    ...limitType({ value: type, at: `${at}.type`, owner: item }),
    ...parts.flatMap((part) =>
      resourceNames(rule)({ value: amounts(part), at: `${at}.${part}`, owner: item }),
    ),
    ...['default', 'defaultRequest']
      .filter((part) => isPod && Object.keys(amounts(part)).length > 0)
      .map((part) => forbiddenField(`${at}.${part}`, misplaced)),
    ...(type === 'PersistentVolumeClaim' && !hasStorage
      ? [requiredField(`${at}.limits`, storage)]
      : []),
    ...[...names].flatMap((name) => {
      const of = (part: string) => (parts.includes(part) ? amounts(part)[name] : undefined);
      return [...orderErrors(of, name, at), ...ratioErrors(of, name, at)];
    }),
  ];
};

/** Pairs in order: the larger part, the place and the value that the error shows, the words for both. */
const orders = [
  ['min', 'max', 'min', 'min', 'min value', 'max value'],
  [
    'min',
    'defaultRequest',
    'defaultRequest',
    'defaultRequest',
    'min value',
    'default request value',
  ],
  [
    'defaultRequest',
    'max',
    'defaultRequest',
    'defaultRequest',
    'default request value',
    'max value',
  ],
  [
    'defaultRequest',
    'default',
    'defaultRequest',
    'defaultRequest',
    'default request value',
    'default limit value',
  ],
  ['min', 'default', 'default', 'min', 'min value', 'default value'],
  ['default', 'max', 'default', 'max', 'default value', 'max value'],
] as const;

type AmountOf = (part: string) => Json | undefined;

function orderErrors(of: AmountOf, name: string, at: string): readonly FieldError[] {
  return orders.flatMap(([low, high, place, shown, lowWord, highWord]) => {
    const [least, most] = [of(low), of(high)];
    if (least === undefined || most === undefined || billionthsOf(least) <= billionthsOf(most))
      return [];
    const detail = `${lowWord} ${least} is greater than ${highWord} ${most}`;
    return [invalidField(`${at}.${place}[${name}]`, of(shown), detail)];
  });
}

function ratioErrors(of: AmountOf, name: string, at: string): readonly FieldError[] {
  const [ratio, min, max] = [of('maxLimitRequestRatio'), of('min'), of('max')];
  if (ratio === undefined) return [];
  const [most, least, value] = [max, min, ratio].map((amount) => Number(billionthsOf(amount)));
  const limitOfRatio = Number(most) / Number(least);
  const place = `${at}.maxLimitRequestRatio[${name}]`;
  const isTooLarge = min !== undefined && max !== undefined && Number(value) / 1e9 > limitOfRatio;
  return [
    ...(Number(value) < 1e9 ? [invalidField(place, ratio, `ratio ${ratio} is less than 1`)] : []),
    ...(isTooLarge
      ? [
          invalidField(
            place,
            ratio,
            `ratio ${ratio} is greater than max/min = ${limitOfRatio.toFixed(6)}`,
          ),
        ]
      : []),
  ];
}

/** Items whose field is that of an earlier one. */
export function unique(name: string): Check {
  return ({ value, at }) => {
    const known = new Set<Json>();
    return (Array.isArray(value) ? value : []).flatMap((item: Json, index: number) => {
      const own = (isJsonObject(item) ? item[name] : undefined) ?? '';
      if (known.has(own)) return [duplicateField(`${at}[${index}].${name}`, own)];
      known.add(own);
      return [];
    });
  };
}

export const limitRangeChecks = fields({
  'spec.limits[]': limit,
  'spec.limits': unique('type'),
});

export const priorityChecks = fields({
  preemptionPolicy: optional((found) =>
    found.value === '' ? required()(found) : oneOf('PreemptLowerPriority', 'Never')(found),
  ),
});

/** Taints are validated as if they were metadata. */
const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const taint: Check = ({ value, at }: Found) => {
  const { key = '', value: label = '', effect = '' } = isJsonObject(value) ? value : {};
  const place = at.replace(/^spec/, 'metadata');
  const malformed = labelValueRule(String(label));
  return [
    ...qualifiedName(String(key)).map((message) => invalidField(`${place}.key`, key, message)),
    ...(malformed.length > 0 ? [invalidField(`${place}.value`, label, malformed.join(';'))] : []),
    ...(effect === ''
      ? [requiredField(`${place}.effect`)]
      : oneOf(...taintEffects)({ value: effect, at: `${place}.effect`, owner: {} })),
  ];
};

/** Each pair of key and effect once. The server prints its own struct. */
const taints: Check = ({ value, at }) => {
  const known = new Set<string>();
  return (Array.isArray(value) ? value : []).flatMap((item: Json, index: number) => {
    const {
      key = '',
      value: label = '',
      effect = '',
      timeAdded = null,
    } = isJsonObject(item) ? item : {};
    const pair = `${key} ${effect}`;
    const shown = JSON.stringify({ Key: key, Value: label, Effect: effect, TimeAdded: timeAdded });
    const field = `${at.replace(/^spec/, 'metadata')}[${index}]`;
    const message = `Duplicate value: ${shown}: taints must be unique by key and effect pair`;
    if (known.has(pair)) return [{ reason: 'FieldValueDuplicate', message, field }];
    known.add(pair);
    return [];
  });
};

export const cidr = matching((text) =>
  isCidr(text) ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
);

export const nodeChecks = fields({
  'spec.taints[]': taint,
  'spec.taints': taints,
  'status.capacity': quantities((at, name) => `${at}.${name}`),
  'status.allocatable': quantities((at, name) => `${at}.${name}`),
  'spec.podCIDRs[]': cidr,
});
