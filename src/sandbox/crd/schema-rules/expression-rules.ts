import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { CelEnvironment } from '../../cel/cel-environment.ts';
import { type CheckedRule, checkRule } from '../../cel/check-rule.ts';
import { fieldOf, listField, stringField } from '../../json-fields.ts';
import type { StructuralSchema } from '../../schema/structural-schema.ts';
import {
  type FieldError,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../../status/field-error.ts';
import { followPath } from './field-path.ts';
import { type BareNode, type SchemaNode, unreadableKeyword } from './schema-node.ts';

const keyword = 'x-kubernetes-validations';
const reasons = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
];

/** Validates the form of rules, not their expressions. */
export function ruleFormErrors(node: SchemaNode): readonly FieldError[] {
  const { schema, path } = node;
  const rules = listField(schema, keyword);
  if (rules.length === 0) return [];
  // When the server cannot read the schema, it does not resolve paths.
  const isRead = unreadableKeyword(node) === undefined;
  return rules.flatMap((rule, index) => {
    const at = `${path}.${keyword}[${index}]`;
    return isJsonObject(rule) ? formErrors(rule, at, isRead ? schema : undefined) : [];
  });
}

function formErrors(
  rule: JsonObject,
  path: string,
  schema: JsonObject | undefined,
): readonly FieldError[] {
  const stringOf = (name: string) => stringField(rule, name) ?? '';
  const errors = [...messageErrors(rule, path)];
  if (stringOf('messageExpression') !== '' && stringOf('messageExpression').trim() === '') {
    const detail = 'messageExpression must be non-empty if specified';
    errors.push(requiredField(`${path}.messageExpression`, detail));
  }
  const reason = stringField(rule, 'reason');
  if (reason !== undefined && !reasons.includes(reason))
    errors.push(unsupportedValue(`${path}.reason`, reason, reasons));
  const fieldPath = stringOf('fieldPath');
  if (fieldPath === '') return errors;
  const field = `${path}.fieldPath`;
  if (fieldPath.trim() === '')
    errors.push(invalidField(field, fieldPath, 'must be non-empty if specified'));
  if (hasLines(fieldPath))
    errors.push(invalidField(field, fieldPath, 'must not contain line breaks'));
  if (schema !== undefined && 'problem' in followPath(schema, fieldPath, { allowsBrackets: true }))
    errors.push(invalidField(field, fieldPath, 'must be a valid path'));
  return errors;
}

/** The server reports only the first of these. */
function messageErrors(rule: JsonObject, path: string): readonly FieldError[] {
  const text = (stringField(rule, 'rule') ?? '').trim();
  const message = stringField(rule, 'message') ?? '';
  const field = `${path}.message`;
  if (text === '') return [requiredField(`${path}.rule`, 'rule is not specified')];
  if (message !== '' && message.trim() === '')
    return [invalidField(field, message, 'must be non-empty if specified')];
  if (hasLines(message.trim()))
    return [invalidField(field, message, 'must not contain line breaks')];
  if (hasLines(text) && message === '')
    return [requiredField(field, 'message must be specified if rule contains line breaks')];
  return [];
}

function hasLines(text: string): boolean {
  return /[\n\r]/.test(text);
}

interface RulesAt extends BareNode {
  readonly environment: CelEnvironment;
  /** The enclosing list or map whose items have no keys to correlate them; undefined = none. */
  readonly uncorrelatable: string | undefined;
  readonly isRoot: boolean;
}

/** Invalid expressions: syntax errors, unknown fields, `oldSelf` where there is no old value. */
export function ruleErrors(at: RulesAt): readonly FieldError[] {
  const { schema, path, environment, isRoot } = at;
  return listField(schema, keyword).flatMap((rule, index) => {
    if (!isJsonObject(rule)) return [];
    const checked = checkRule(environment, rule, { schema: schema as StructuralSchema, isRoot });
    return compileErrors(rule, checked, { at, path: `${path}.${keyword}[${index}]` });
  });
}

function compileErrors(
  rule: JsonObject,
  checked: CheckedRule,
  { at, path }: { readonly at: RulesAt; readonly path: string },
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { problem, messageProblem, usesOldSelf } = checked;
  if (problem !== undefined) errors.push(invalidRule(`${path}.rule`, rule, problem));
  if (messageProblem !== undefined)
    errors.push(invalidRule(`${path}.messageExpression`, rule, messageProblem));
  if (usesOldSelf && at.uncorrelatable !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${at.uncorrelatable}`;
    errors.push(invalidField(`${path}.rule`, fieldOf(rule, 'rule'), detail));
  }
  const optional = fieldOf(rule, 'optionalOldSelf');
  if (!usesOldSelf && typeof optional === 'boolean') {
    const detail = 'may not be set if oldSelf is not used in rule';
    errors.push(invalidField(`${path}.optionalOldSelf`, optional, detail));
  }
  return errors;
}

/** The server prints the rule as its Go struct. */
function invalidRule(field: string, rule: JsonObject, detail: string): FieldError {
  const stringOf = (name: string) => stringField(rule, name) ?? '';
  const shown = {
    Rule: stringOf('rule'),
    Message: stringOf('message'),
    MessageExpression: stringOf('messageExpression'),
    Reason: fieldOf(rule, 'reason') ?? null,
    FieldPath: stringOf('fieldPath'),
    OptionalOldSelf: fieldOf(rule, 'optionalOldSelf') ?? null,
  };
  const text = JSON.stringify(shown)
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('&', '\\u0026');
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${text}: ${detail}`, field };
}
