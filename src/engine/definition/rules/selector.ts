import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import { isLabelKey, isLabelValue } from '#util/label-selector.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, mapAt, mapsAt } from '../tree.ts';
import { containsExpression } from './rule.ts';

interface SelectorOptions {
  /** What "selector: all" selects; undefined: "all" is not allowed. */
  readonly all?: string;
  /** The hint for an empty selector. */
  readonly insteadOfEmpty?: string;
  /** Whether one expression may return the whole selector. @default false */
  readonly mayBeComputed?: boolean;
}

const known: ReadonlySet<string> = new Set(['matchLabels', 'matchExpressions']);

/** A selector of labels or annotations must not be empty. */
export function* checkSelector(
  selector: unknown,
  path: string,
  { all, insteadOfEmpty, mayBeComputed = false }: SelectorOptions = {},
): Iterable<Finding> {
  if (typeof selector === 'string') {
    if (selector === 'all' && all !== undefined) return;
    if (mayBeComputed && containsExpression(selector)) return;
    yield notASelector(selector, path, all);
    return;
  }
  if (!isJsonObject(selector)) return;
  const parts = [fieldOf(selector, 'matchLabels'), fieldOf(selector, 'matchExpressions')];
  // An unknown field has its own finding.
  const isMistyped = Object.keys(selector).some((field) => !known.has(field));
  if (parts.every(isEmpty) && !isMistyped) {
    yield {
      code: 'invalid-value',
      path,
      message: 'Expected a selector with at least one requirement, found an empty one',
      hint: insteadOfEmpty ?? (all && `Write "selector: all" to select all ${all}`),
    };
  }
  yield* checkRequirements(selector, path);
}

function notASelector(selector: string, path: string, all: string | undefined): Finding {
  const expected = all === undefined ? 'a map' : 'a map or "all"';
  const otherwise =
    all === undefined ? 'Write "matchLabels"' : 'Write "selector: all", or "matchLabels"';
  return {
    code: 'invalid-value',
    path,
    message: `Expected ${expected}, found ${describeFound(selector)}`,
    hint: containsExpression(selector)
      ? 'To compute the whole map, write the expression under "matchLabels"'
      : otherwise,
  };
}

function isEmpty(part: unknown): boolean {
  return part === undefined || (typeof part === 'object' && Object.keys(part ?? {}).length === 0);
}

function* checkRequirements(selector: JsonObject, path: string): Iterable<Finding> {
  for (const { value, path: at } of mapsAt(selector, '/matchExpressions')) {
    const operator = fieldOf(value, 'operator');
    const hasValues = !isEmpty(fieldOf(value, 'values'));
    const wantsValues = operator === 'In' || operator === 'NotIn';
    const wantsNone = operator === 'Exists' || operator === 'DoesNotExist';
    const where = `${path}${at}`;
    if (wantsValues && !hasValues) {
      const message = `Operator "${operator}" requires "values"`;
      yield { code: 'missing-field', path: pointerTo(where, 'values'), at: 'parent-key', message };
    } else if (wantsNone && hasValues) {
      const message = `Operator "${operator}" does not allow "values"`;
      yield { code: 'invalid-value', path: pointerTo(where, 'values'), at: 'key', message };
    }
  }
}

interface LiteralSelectorOptions extends SelectorOptions {
  /** The selector, at the start of a message. */
  readonly what: string;
  /** The hint for an expression. */
  readonly insteadOfExpression: string;
  /** Whether the values are those of labels. @default true */
  readonly hasLabelValues?: boolean;
}

/** A selector without expressions, of valid keys and values. */
export function* checkLiteralSelector(
  selector: Json | undefined,
  path: string,
  { what, insteadOfExpression: hint, hasLabelValues = true, ...options }: LiteralSelectorOptions,
): Iterable<Finding> {
  const expressions = [...expressionsIn(selector, path)];
  for (const { value, path: at } of expressions) {
    const message = `${what} cannot contain expressions, found ${describeFound(value)}`;
    yield { code: 'forbidden-expression', path: at, message, hint };
  }
  if (expressions.length > 0) return;
  yield* checkSelector(selector, path, options);
  const labels = mapAt({ selector: selector ?? null }, '/selector/matchLabels');
  for (const [key, value] of Object.entries(labels)) {
    const at = pointerTo(pointerTo(path, 'matchLabels'), key);
    yield* checkKey(key, at, 'key');
    if (hasLabelValues) yield* checkLabelValue(value, at);
  }
  for (const { value, path: at } of mapsAt(selector, '/matchExpressions')) {
    const key = fieldOf(value, 'key');
    if (typeof key === 'string') yield* checkKey(key, `${path}${pointerTo(at, 'key')}`, 'value');
    const values = fieldOf(value, 'values');
    if (!Array.isArray(values) || !hasLabelValues) continue;
    for (const [index, each] of values.entries()) {
      yield* checkLabelValue(each, pointerTo(`${path}${pointerTo(at, 'values')}`, index));
    }
  }
}

function* expressionsIn(
  value: Json | undefined,
  path: string,
): Generator<{ readonly value: string; readonly path: string }> {
  if (typeof value === 'string' && containsExpression(value)) yield { value, path };
  if (typeof value !== 'object' || value === null) return;
  for (const [step, inner] of Object.entries(value as JsonObject))
    yield* expressionsIn(inner, pointerTo(path, step));
}

function* checkKey(key: string, path: string, at: 'key' | 'value'): Iterable<Finding> {
  if (isLabelKey(key)) return;
  yield { code: 'invalid-value', path, at, message: `Expected a label key, found "${key}"` };
}

function* checkLabelValue(value: unknown, path: string): Iterable<Finding> {
  if (typeof value !== 'string' || isLabelValue(value)) return;
  yield { code: 'invalid-value', path, message: `Expected a label value, found "${value}"` };
}
