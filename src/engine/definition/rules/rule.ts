import type { JsonObject } from '#util/json.ts';
import type { Finding } from '../finding.ts';

/**
 * A check of a document. Values of an unexpected type are skipped, because the schema reports them.
 */
export type Rule = (document: JsonObject) => Iterable<Finding>;

/** Whether a string contains an unescaped expression, `${ }` or `{{ }}`. */
export function containsExpression(text: string): boolean {
  return /(?<!\$)\$\{|(?<!\\)\{\{/.test(text);
}

/** Whether a string looks like a single `${ }`. Does not parse the expression. */
export function isSingleExpression(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith('${') && trimmed.endsWith('}');
}

/** RFC 1123 label: may start with a digit. */
export function isDnsLabel(value: string): boolean {
  return value.length <= 63 && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(value);
}

/** RFC 1035 label: starts with a letter. */
export function isDnsLabel1035(value: string): boolean {
  return isDnsLabel(value) && /^[a-z]/.test(value);
}

/** RFC 1123 labels joined by dots, at most 253 characters. */
export function isDnsSubdomain(value: string): boolean {
  return (
    value.length <= 253 &&
    /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/.test(value)
  );
}
