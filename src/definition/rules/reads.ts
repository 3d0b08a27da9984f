import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapsAt } from '../tree.ts';
import { holdsExpression } from './expression-text.ts';
import { checkKindLiteral } from './kind-literal.ts';
import type { Rule } from './rule.ts';

/** A read says which objects it means: one by name, or a list by a selector that selects on purpose. */
export const checkReads: Rule = function* (document) {
  for (const { value: read, path } of mapsAt(document, '/spec/reads')) {
    for (const field of ['apiVersion', 'kind']) {
      if (Object.hasOwn(read, field)) yield* checkKindLiteral({ holder: read, path, field });
    }
    yield* checkChoice(read, path);
    if (Object.hasOwn(read, 'selector')) {
      yield* checkSelector(read.selector, pointerTo(path, 'selector'));
    }
  }
};

function* checkChoice(read: JsonObject, path: string): Iterable<Finding> {
  const hasName = Object.hasOwn(read, 'name');
  const hasSelector = Object.hasOwn(read, 'selector');
  if (hasName && hasSelector) {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, 'selector'),
      at: 'key',
      message: 'A read is by "name" or by "selector", found both',
    };
  } else if (!hasName && !hasSelector) {
    yield {
      code: 'missing-field',
      path: pointerTo(path, 'name'),
      at: 'parent-key',
      message: 'A read needs "name" or "selector", found neither',
      hint: 'Write "selector: all" to read all objects of the kind',
    };
  }
  if (hasName && read.name === '') {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, 'name'),
      message: 'Expected a name, found an empty text',
    };
  }
}

function* checkSelector(selector: unknown, path: string): Iterable<Finding> {
  if (typeof selector === 'string') {
    if (selector === 'all') return;
    const hint = holdsExpression(selector)
      ? 'The whole map may be an expression under "matchLabels"'
      : 'Write "selector: all", or "matchLabels"';
    const message = `Expected a map or "all", found ${found(selector)}`;
    yield { code: 'invalid-value', path, message, hint };
    return;
  }
  if (!isJsonObject(selector)) return;
  const parts = [fieldOf(selector, 'matchLabels'), fieldOf(selector, 'matchExpressions')];
  if (parts.every(isEmpty)) {
    yield {
      code: 'invalid-value',
      path,
      message: 'Expected a selector that selects something, found an empty one',
      hint: 'Write "selector: all" if all objects of the kind are meant',
    };
  }
  yield* checkRequirements(selector, path);
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
      const message = `Operator "${operator}" needs "values"`;
      yield { code: 'missing-field', path: pointerTo(where, 'values'), at: 'parent-key', message };
    } else if (wantsNone && hasValues) {
      const message = `Operator "${operator}" takes no "values"`;
      yield { code: 'invalid-value', path: pointerTo(where, 'values'), at: 'key', message };
    }
  }
}
