import { isJsonObject, type JsonObject } from '#util/json.ts';
import {
  fieldOf,
  listField,
  objectField,
  stringField,
  withField,
  withFields,
} from '../json-fields.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';
import { withTemplateDefaults } from './pod-defaults.ts';
import { templateContentErrors } from './pod-spec-rules.ts';
import { labelSelectorErrors, selectorMatches } from './selector-rules.ts';

/** The object with a changed spec. */
export function withSpec(object: JsonObject, change: (spec: JsonObject) => JsonObject): JsonObject {
  return withFields(object, { spec: change(objectField(object, 'spec') ?? {}) });
}

/** The template of a spec, with defaults. */
export function templateOf(spec: JsonObject): JsonObject {
  return { template: withTemplateDefaults(objectField(spec, 'template')) };
}

const counts = ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'];

/** The parts of the server's messages that differ by kind. */
interface WorkloadMessages {
  /** In messages about empty selectors. */
  readonly selector: string;
  /** In messages about malformed selectors. @default no message */
  readonly invalidSelector?: string;
  /** The server does not report a missing selector. */
  readonly isSelectorOptional?: boolean;
  /** Numbers that cannot be negative. @default those of Deployments */
  readonly counts?: readonly string[];
  /** In messages about deadlines. */
  readonly deadline: string;
}

/** Validates a kind with a selector and a template of pods that are restarted. */
export function workloadErrors(object: JsonObject, words: WorkloadMessages): readonly FieldError[] {
  const spec = objectField(object, 'spec') ?? {};
  const template = objectField(spec, 'template') ?? {};
  const deadline = `activeDeadlineSeconds in ${words.deadline} is not Supported`;
  const at = 'spec.template.spec.activeDeadlineSeconds';
  return [
    ...countErrors(spec, words.counts ?? counts),
    ...selectorErrors(spec, template, words),
    ...templateErrors(template, ['Always']),
    ...(objectField(template, 'spec')?.activeDeadlineSeconds === undefined
      ? []
      : [forbiddenField(at, deadline)]),
  ];
}

/** Numbers of a spec that cannot be negative. */
export function countErrors(spec: JsonObject, names: readonly string[]): readonly FieldError[] {
  return names.flatMap((name) => {
    const value = fieldOf(spec, name);
    if (typeof value !== 'number' || value >= 0) return [];
    return [invalidField(`spec.${name}`, value, 'must be greater than or equal to 0')];
  });
}

/** A selector without its empty lists and maps. */
function withoutEmpty(selector: JsonObject): JsonObject {
  const { matchLabels = {} } = selector;
  const expressions = listField(selector, 'matchExpressions').map((each) =>
    isJsonObject(each) && listField(each, 'values').length === 0
      ? withField(each, 'values', undefined)
      : each,
  );
  return {
    ...(Object.keys(matchLabels ?? {}).length === 0 ? {} : { matchLabels }),
    ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
  };
}

export function labelMismatch(labels: JsonObject | undefined): FieldError {
  const detail = '`selector` does not match template `labels`';
  return invalidField('spec.template.metadata.labels', labels ?? null, detail);
}

function selectorErrors(
  spec: JsonObject,
  template: JsonObject,
  words: WorkloadMessages,
): readonly FieldError[] {
  const given = objectField(spec, 'selector');
  const selector = given && withoutEmpty(given);
  const labels = objectField(objectField(template, 'metadata') ?? {}, 'labels');
  const mismatch = labelMismatch(labels);
  if (selector === undefined)
    return words.isSelectorOptional ? [mismatch] : [requiredField('spec.selector'), mismatch];
  if (Object.keys(selector).length === 0)
    return [
      invalidField('spec.selector', selector, `empty selector is invalid for ${words.selector}`),
    ];
  const errors = labelSelectorErrors(selector, 'spec.selector');
  if (errors.length > 0) return [...errors, ...malformedSelector(selector, words)];
  return selectorMatches(selector, labels ?? {}) ? [] : [mismatch];
}

/** For some kinds, the server reports a malformed selector a second time. */
function malformedSelector(
  selector: JsonObject,
  { invalidSelector }: WorkloadMessages,
): readonly FieldError[] {
  if (invalidSelector === undefined) return [];
  return [invalidField('spec.selector', selector, invalidSelector)];
}

export function templateErrors(
  template: JsonObject,
  restartPolicies: readonly string[],
): readonly FieldError[] {
  const spec = objectField(template, 'spec') ?? {};
  const policy = stringField(spec, 'restartPolicy') ?? '';
  const errors = templateContentErrors(template, 'spec.template');
  if (restartPolicies.includes(policy)) return errors;
  const field = 'spec.template.spec.restartPolicy';
  // Absent fields have their defaults already.
  if (policy === 'Always')
    return [...errors, requiredField(field, 'valid values: "OnFailure", "Never"')];
  return [...errors, unsupportedValue(field, policy, restartPolicies)];
}
