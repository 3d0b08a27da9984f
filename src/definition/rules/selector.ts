import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapsAt } from '../tree.ts';
import { holdsExpression } from './expression-text.ts';

export interface SelectorRules {
  /** What "selector: all" would mean; undefined: the word is none. */
  readonly all?: string;
  /** What to do instead of an empty selector. */
  readonly insteadOfEmpty?: string;
}

const known: ReadonlySet<string> = new Set(['matchLabels', 'matchExpressions']);

/** A selector of labels or annotations says on purpose what it selects. */
export function* checkSelector(
  selector: unknown,
  path: string,
  { all, insteadOfEmpty }: SelectorRules = {},
): Iterable<Finding> {
  if (typeof selector === 'string') {
    if (selector === 'all' && all !== undefined) return;
    yield notASelector(selector, path, all);
    return;
  }
  if (!isJsonObject(selector)) return;
  const parts = [fieldOf(selector, 'matchLabels'), fieldOf(selector, 'matchExpressions')];
  // What is written under a mistyped name has a finding of its own.
  const isMistyped = Object.keys(selector).some((field) => !known.has(field));
  if (parts.every(isEmpty) && !isMistyped) {
    yield {
      code: 'invalid-value',
      path,
      message: 'Expected a selector that selects something, found an empty one',
      hint: insteadOfEmpty ?? (all && `Write "selector: all" if all ${all} are meant`),
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
    message: `Expected ${expected}, found ${found(selector)}`,
    hint: holdsExpression(selector)
      ? 'The whole map may be an expression under "matchLabels"'
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
      const message = `Operator "${operator}" needs "values"`;
      yield { code: 'missing-field', path: pointerTo(where, 'values'), at: 'parent-key', message };
    } else if (wantsNone && hasValues) {
      const message = `Operator "${operator}" takes no "values"`;
      yield { code: 'invalid-value', path: pointerTo(where, 'values'), at: 'key', message };
    }
  }
}
