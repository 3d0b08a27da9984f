import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapsAt } from '../tree.ts';
import { isLoneExpression } from './expression-text.ts';
import type { Rule } from './rule.ts';

const expectations: Readonly<Record<string, string>> = {
  when: 'true, false or one expression "${ ... }"',
  ready: 'true, false or one expression "${ ... }"',
  deleteWhen: 'true, false or one expression "${ ... }"',
  forEach: 'a list or one expression "${ ... }" that gives a list',
};

/** Where a child asks for a condition or a list, a text is one expression and nothing else. */
export const checkConditions: Rule = function* (document) {
  for (const list of [
    '/spec/children',
    '/spec/onDelete/children',
    '/spec/patches',
    '/spec/events',
  ]) {
    for (const { value, path } of mapsAt(document, list)) {
      for (const field of Object.keys(expectations)) {
        yield* checkCondition(fieldOf(value, field), pointerTo(path, field), field);
      }
    }
  }
};

function* checkCondition(value: unknown, path: string, field: string): Iterable<Finding> {
  if (typeof value !== 'string' || isLoneExpression(value)) return;
  const isBare = /[.$=<>()]|^\w+$/.test(value) && !/[{}]/.test(value) && !isWord(value);
  yield {
    code: 'wrong-type',
    path,
    message: `Expected ${expectations[field]}, found ${found(value)}`,
    hint: isBare ? `Write "\${ ${value.trim()} }"` : undefined,
  };
}

function isWord(value: string): boolean {
  return /^(?:true|false|yes|no|on|off)$/i.test(value);
}
