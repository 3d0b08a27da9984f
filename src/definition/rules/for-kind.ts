import { isJsonObject, type Json, type JsonObject, pointerTo } from '../../util/json.ts';
import { isLabelKey, isLabelValue } from '../../util/label-selector.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, mapAt, mapsAt, valueAt } from '../tree.ts';
import { checkKindLiteral } from './kind-literal.ts';
import { containsExpression, type Rule } from './rule.ts';
import { checkSelector } from './selector.ts';

/** `for` names an existing kind and selects its objects without expressions, which need a resource to evaluate against. */
export const checkForKind: Rule = function* (document) {
  const foreign = valueAt(document, '/spec/for');
  if (!isJsonObject(foreign)) return;
  for (const field of ['apiVersion', 'kind']) {
    if (Object.hasOwn(foreign, field)) {
      yield* checkKindLiteral({ parent: foreign, path: '/spec/for', field });
    }
  }
  for (const field of ['selector', 'annotationSelector'] as const) {
    yield* checkObjectSelector(foreign[field], pointerTo('/spec/for', field), field);
  }
  if (Object.hasOwn(mapAt(document, '/spec'), 'crdPolicy')) {
    const message = '"crdPolicy" requires "crd"';
    yield { code: 'invalid-value', path: '/spec/crdPolicy', at: 'key', message };
  }
};

function* checkObjectSelector(
  selector: Json | undefined,
  path: string,
  field: 'selector' | 'annotationSelector',
): Iterable<Finding> {
  const isComputed = yield* checkLiteral(selector, path);
  if (isComputed) return;
  yield* checkSelector(selector, path, {
    insteadOfEmpty: `Remove "${field}" to select all objects of the kind`,
  });
  const labels = mapAt({ selector }, '/selector/matchLabels');
  for (const [key, value] of Object.entries(labels)) {
    const at = pointerTo(pointerTo(path, 'matchLabels'), key);
    yield* checkKey(key, at, 'key');
    if (field === 'selector') yield* checkLabelValue(value, at);
  }
  for (const { value, path: at } of mapsAt(selector, '/matchExpressions')) {
    const key = fieldOf(value, 'key');
    if (typeof key === 'string') yield* checkKey(key, `${path}${pointerTo(at, 'key')}`, 'value');
    const values = fieldOf(value, 'values');
    if (!Array.isArray(values) || field !== 'selector') continue;
    for (const [index, each] of values.entries()) {
      yield* checkLabelValue(each, pointerTo(`${path}${pointerTo(at, 'values')}`, index));
    }
  }
}

/** Reports every expression. Returns whether it found one. */
function* checkLiteral(value: Json | undefined, path: string): Generator<Finding, boolean> {
  if (typeof value === 'string') {
    if (!containsExpression(value)) return false;
    yield {
      code: 'forbidden-expression',
      path,
      message: `The selector of "for" cannot contain expressions, found ${describeFound(value)}`,
      hint: 'Resources are selected before expressions are evaluated; use "when" to create a child conditionally',
    };
    return true;
  }
  if (typeof value !== 'object' || value === null) return false;
  let isComputed = false;
  for (const [step, inner] of Object.entries(value as JsonObject)) {
    if (yield* checkLiteral(inner, pointerTo(path, step))) isComputed = true;
  }
  return isComputed;
}

function* checkKey(key: string, path: string, at: 'key' | 'value'): Iterable<Finding> {
  if (isLabelKey(key)) return;
  yield { code: 'invalid-value', path, at, message: `Expected a label key, found "${key}"` };
}

function* checkLabelValue(value: unknown, path: string): Iterable<Finding> {
  if (typeof value !== 'string' || isLabelValue(value)) return;
  yield { code: 'invalid-value', path, message: `Expected a label value, found "${value}"` };
}
