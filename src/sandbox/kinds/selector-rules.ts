import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { labelValueRule, qualifiedName } from '../metadata/name-rules.ts';
import { labelErrors } from '../metadata/validate-metadata.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from '../status/field-error.ts';
import type { Check } from './field-checks.ts';

/** Validates a label selector. */
export function labelSelectorErrors(selector: JsonObject, at: string): readonly FieldError[] {
  return [
    ...labelErrors(objectField(selector, 'matchLabels') ?? {}, `${at}.matchLabels`),
    ...expressionsOf(selector).flatMap((expression, index) =>
      expressionErrors(expression, `${at}.matchExpressions[${index}]`),
    ),
  ];
}

/** Validates a label selector, if there is one. */
export const labelSelector: Check = ({ value, at }) =>
  isJsonObject(value) ? labelSelectorErrors(value, at) : [];

function expressionErrors(expression: JsonObject, at: string): readonly FieldError[] {
  const key = stringField(expression, 'key') ?? '';
  return [
    ...operatorErrors(expression, at),
    ...qualifiedName(key).map((message) => invalidField(`${at}.key`, key, message)),
    ...listField(expression, 'values').flatMap((value, index) =>
      labelValueRule(String(value)).map((message) =>
        invalidField(`${at}.values[${index}]`, value, message),
      ),
    ),
  ];
}

function operatorErrors(expression: JsonObject, at: string): readonly FieldError[] {
  const operator = stringField(expression, 'operator') ?? '';
  const hasValues = listField(expression, 'values').length > 0;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return hasValues
        ? []
        : [requiredField(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return hasValues
        ? [
            forbiddenField(
              `${at}.values`,
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
          ]
        : [];
    default:
      return [invalidField(`${at}.operator`, operator, 'not a valid selector operator')];
  }
}

/** Returns whether a valid selector matches these labels. */
export function selectorMatches(selector: JsonObject, labels: JsonObject): boolean {
  const required = Object.entries(objectField(selector, 'matchLabels') ?? {});
  return (
    required.every(([name, value]) => labels[name] === value) &&
    expressionsOf(selector).every((expression) => expressionMatches(expression, labels))
  );
}

function expressionMatches(expression: JsonObject, labels: JsonObject): boolean {
  const value = labels[stringField(expression, 'key') ?? ''];
  const isListed = value !== undefined && listField(expression, 'values').includes(value);
  switch (expression.operator) {
    case 'In':
      return isListed;
    case 'NotIn':
      return !isListed;
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
}

function expressionsOf(selector: JsonObject): readonly JsonObject[] {
  return listField(selector, 'matchExpressions').filter(isJsonObject);
}
