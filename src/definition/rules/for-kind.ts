import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { isLabelKey, isLabelValue } from '../../util/label-syntax.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapAt, mapsAt, valueAt } from '../tree.ts';
import { holdsExpression } from './expression-text.ts';
import { checkKindLiteral } from './kind-literal.ts';
import type { Rule } from './rule.ts';
import { checkSelector } from './selector.ts';

/** `for` names a kind that exists, and says without expressions which of its objects are meant: there is none yet to ask. */
export const checkForKind: Rule = function* (document) {
  const foreign = valueAt(document, '/spec/for');
  if (!isJsonObject(foreign)) return;
  for (const field of ['apiVersion', 'kind']) {
    if (Object.hasOwn(foreign, field)) {
      yield* checkKindLiteral({ holder: foreign, path: '/spec/for', field });
    }
  }
  for (const field of ['selector', 'annotationSelector'] as const) {
    yield* checkObjectSelector(foreign[field], pointerTo('/spec/for', field), field);
  }
  if (Object.hasOwn(mapAt(document, '/spec'), 'crdPolicy')) {
    const message = '"crdPolicy" is for a definition with "crd"';
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
    insteadOfEmpty: `Leave "${field}" out if all objects of the kind are meant`,
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

/** Reports every expression; gives whether there was one. */
function* checkLiteral(value: Json | undefined, path: string): Generator<Finding, boolean> {
  if (typeof value === 'string') {
    if (!holdsExpression(value)) return false;
    yield {
      code: 'forbidden-expression',
      path,
      message: `What "for" selects cannot be an expression, found ${found(value)}`,
      hint: 'Which resources there are is known before any expression is evaluated; a child is chosen with "when"',
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
  yield { code: 'invalid-value', path, at, message: `Expected the key of a label, found "${key}"` };
}

function* checkLabelValue(value: unknown, path: string): Iterable<Finding> {
  if (typeof value !== 'string' || isLabelValue(value)) return;
  yield { code: 'invalid-value', path, message: `Expected the value of a label, found "${value}"` };
}
