import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { goQuote } from '../go-value.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { domainPath, qualifiedName } from '../metadata/name-rules.ts';
import {
  duplicateField,
  type FieldError,
  invalidField,
  invalidStruct,
  requiredField,
  tooLong,
} from '../status/field-error.ts';
import {
  type Check,
  fields,
  isEmpty,
  matching,
  oneOf,
  optional,
  required,
} from './field-checks.ts';

/** One of these texts; the message for an absent one lists them. */
function chosen(...choices: readonly string[]): Check {
  const list = `valid values: [${choices.map((choice) => goQuote(choice)).join(' ')}]`;
  return (found) => (isEmpty(found.value) ? required(list)(found) : oneOf(...choices)(found));
}

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

/** Validates the rules of a policy for failed pods; container names are those of the template. */
const failureRules: Check = ({ value, at, owner }) => {
  const spec = objectField(objectField(owner, 'template') ?? {}, 'spec') ?? {};
  const containers = ['containers', 'initContainers'].flatMap((list) => listField(spec, list));
  const names = containers.filter(isJsonObject).map(({ name }) => name ?? '');
  return listField(isJsonObject(value) ? value : {}, 'rules').flatMap((rule, index) =>
    failureRuleErrors(isJsonObject(rule) ? rule : {}, {
      at: `${at}.rules[${index}]`,
      names,
      owner,
    }),
  );
};

interface RulePlace {
  readonly at: string;
  /** Of the containers of the template. */
  readonly names: readonly Json[];
  /** The spec of the Job. */
  readonly owner: JsonObject;
}

function failureRuleErrors(rule: JsonObject, place: RulePlace): readonly FieldError[] {
  const { at, owner } = place;
  const { action, onExitCodes } = rule;
  const hasConditions = listField(rule, 'onPodConditions').length > 0;
  const isOneTooMany = isJsonObject(onExitCodes) === hasConditions;
  const detail = hasConditions
    ? 'specifying both OnExitCodes and OnPodConditions is not supported'
    : 'specifying one of OnExitCodes and OnPodConditions is required';
  const index = 'requires the backoffLimitPerIndex to be set';
  return [
    ...chosen(...actions)({ value: action, at: `${at}.action`, owner: rule }),
    ...(action === 'FailIndex' && owner.backoffLimitPerIndex === undefined
      ? [invalidField(`${at}.action`, action, index)]
      : []),
    ...(isJsonObject(onExitCodes) ? exitCodeErrors(onExitCodes, place) : []),
    ...conditions({ value: rule, at, owner }),
    ...(isOneTooMany
      ? [{ reason: 'FieldValueInvalid', message: `Invalid value: ${detail}`, field: at }]
      : []),
  ];
}

const conditions = fields({
  'onPodConditions[].type': ({ value = '', at, owner }) =>
    matching(qualifiedName)({ value, at, owner }),
  'onPodConditions[].status': chosen('False', 'True', 'Unknown'),
});

function exitCodeErrors(codes: JsonObject, { at, names }: RulePlace): readonly FieldError[] {
  const { operator, containerName } = codes;
  const values = listField(codes, 'values');
  const place = `${at}.onExitCodes`;
  const isOrdered = values.every(
    (value, index) => index === 0 || Number(values[index - 1]) <= Number(value),
  );
  const unknown = 'must be one of the container or initContainer names in the pod template';
  return [
    ...chosen('In', 'NotIn')({ value: operator, at: `${place}.operator`, owner: codes }),
    ...(containerName === undefined || names.includes(containerName)
      ? []
      : [invalidField(`${place}.containerName`, containerName, unknown)]),
    ...(values.length === 0
      ? [invalidStruct(`${place}.values`, codes.values ?? null, 'at least one value is required')]
      : []),
    ...values.flatMap((value, index) => [
      ...(operator === 'In' && value === 0
        ? [invalidField(`${place}.values[${index}]`, value, 'must not be 0 for the In operator')]
        : []),
      ...(values.indexOf(value) < index
        ? [duplicateField(`${place}.values[${index}]`, value)]
        : []),
    ]),
    ...(isOrdered ? [] : [invalidField(`${place}.values`, [...values], 'must be ordered')]),
  ];
}

const successPolicy: Check = ({ value, at, owner }) => {
  const rules = listField(isJsonObject(value) ? value : {}, 'rules');
  if (owner.completionMode !== 'Indexed')
    return [invalidStruct(at, { Rules: rules.map(inGo) }, 'requires indexed completion mode')];
  const none = 'at least one rules must be specified when the successPolicy is specified';
  return [
    ...(rules.length === 0 ? [requiredField(`${at}.rules`, none)] : []),
    ...rules.flatMap((rule, index) =>
      successRuleErrors(
        isJsonObject(rule) ? rule : {},
        Number(owner.completions ?? 0),
        `${at}.rules[${index}]`,
      ),
    ),
  ];
};

/** The server prints its own struct. */
function inGo(rule: Json): JsonObject {
  const { succeededIndexes = null, succeededCount = null } = isJsonObject(rule) ? rule : {};
  return { SucceededIndexes: succeededIndexes, SucceededCount: succeededCount };
}

function successRuleErrors(
  rule: JsonObject,
  completions: number,
  at: string,
): readonly FieldError[] {
  const { succeededCount: count } = rule;
  const indexes = stringField(rule, 'succeededIndexes');
  const total = indexes === undefined ? 0 : indexCount(indexes, completions);
  const none = 'at least one of succeededCount or succeededIndexes must be specified';
  const most = (limit: number, of: string) =>
    `must be less than or equal to ${limit} (the number of ${of})`;
  const tooMany = (limit: number, of: string) =>
    typeof count === 'number' && count > limit
      ? [invalidField(`${at}.succeededCount`, count, most(limit, of))]
      : [];
  return [
    ...(count === undefined && indexes === undefined ? [requiredField(at, none)] : []),
    ...(typeof total === 'string'
      ? [
          invalidField(
            `${at}.succeededIndexes`,
            indexes,
            `error parsing succeededIndexes: ${total}`,
          ),
        ]
      : []),
    ...(typeof count === 'number' && count < 0
      ? [invalidField(`${at}.succeededCount`, count, 'must be greater than or equal to 0')]
      : []),
    ...tooMany(completions, 'specified completions'),
    ...(indexes === undefined
      ? []
      : tooMany(
          typeof total === 'string' ? 0 : total,
          'indexes in the specified succeededIndexes field',
        )),
  ];
}

/** The number of indexes in `1,3-5`, or why the text is malformed. */
function indexCount(text: string, completions: number): number | string {
  if (text === '') return 0;
  let [last, total] = [-1, 0];
  for (const interval of text.split(',')) {
    const limits = interval.split('-');
    if (limits.length > 2)
      return `the fragment ${goQuote(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`;
    for (const limit of limits) {
      if (!/^[+-]?\d+$/.test(limit))
        return `cannot convert string to integer for index: ${goQuote(limit)}`;
      if (Number(limit) >= completions) return `too large index: ${goQuote(limit)}`;
    }
    const [first, end = first] = limits.map(Number);
    if (limits.length > 1 && Number(first) >= Number(end))
      return `non-increasing order, previous: ${first}, current: ${end}`;
    if (last >= Number(first)) return `non-increasing order, previous: ${last}, current: ${first}`;
    total += Number(end) - Number(first) + 1;
    last = Number(end);
  }
  return total;
}

const longestManager = 63;
const managedBy: Check = ({ value = '', at }) => [
  ...(value === ''
    ? [requiredField(at)]
    : domainPath(String(value)).map((message) => invalidField(at, value, message))),
  ...(String(value).length > longestManager ? [tooLong(at, longestManager)] : []),
];

/** The number of failed indexes is limited by that of all. */
const failedIndexes: Check = ({ value, at, owner }) => {
  if (owner.completionMode !== 'Indexed' || typeof value !== 'number') return [];
  const { completions } = owner;
  const most = 100_000;
  return [
    ...(typeof completions === 'number' && value > completions
      ? [invalidField(at, value, 'must be less than or equal to completions')]
      : []),
    ...(value > most ? [invalidField(at, value, `must be less than or equal to ${most}`)] : []),
  ];
};

/** Checks of the spec of a Job. */
export const jobChecks = fields({
  managedBy: optional(managedBy),
  maxFailedIndexes: failedIndexes,
  podFailurePolicy: optional(failureRules),
  successPolicy: optional(successPolicy),
});
