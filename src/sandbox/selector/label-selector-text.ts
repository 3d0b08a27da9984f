import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';

/** A selector of an object as a query writes it: `app=web,tier in (a,b)`; empty when it selects nothing in particular. */
export function labelSelectorText(selector: JsonObject): string {
  const equal = Object.entries(objectField(selector, 'matchLabels') ?? {}).map(
    ([key, value]): readonly [string, string] => [key, `${key}=${value}`],
  );
  const expressions = listField(selector, 'matchExpressions')
    .filter(isJsonObject)
    .map((expression): readonly [string, string] => [
      stringField(expression, 'key') ?? '',
      requirementText(expression),
    ]);
  return [...equal, ...expressions]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(',');
}

function requirementText(expression: JsonObject): string {
  const key = stringField(expression, 'key') ?? '';
  const values = listField(expression, 'values').map(String).sort().join(',');
  switch (expression.operator) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}
