import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapsAt, valueAt } from '../tree.ts';
import type { Rule } from './rule.ts';

/** What gives elements an order needs elements, and what is left alone has no turn. */
export const checkLife: Rule = function* (document) {
  for (const { value, path } of mapsAt(document, '/spec/children')) {
    const isList = Object.hasOwn(value, 'forEach');
    if (fieldOf(value, 'ordered') === true && !isList) yield withoutList('ordered', path);
    const strategy = pointerTo(path, 'updateStrategy');
    const rolling = pointerTo(strategy, 'rollingUpdate');
    if (valueAt(document, rolling) === undefined) continue;
    if (!isList) yield withoutList('rollingUpdate', strategy);
    if (valueAt(document, pointerTo(strategy, 'type')) === 'OnDelete') yield leftAlone(strategy);
    yield* checkMaxUnavailable(valueAt(document, pointerTo(rolling, 'maxUnavailable')), rolling);
  }
};

function withoutList(field: string, path: string): Finding {
  return {
    code: 'invalid-value',
    path: pointerTo(path, field),
    at: 'key',
    message: `"${field}" is for a child with "forEach"`,
  };
}

function leftAlone(path: string): Finding {
  return {
    code: 'invalid-value',
    path: pointerTo(path, 'rollingUpdate'),
    at: 'key',
    message: '"rollingUpdate" has nothing to do with "type: OnDelete", which changes no object',
    hint: 'Write "type: Apply" or "type: Recreate"',
  };
}

function* checkMaxUnavailable(value: unknown, path: string): Iterable<Finding> {
  if (value === undefined || isAmount(value)) return;
  yield {
    code: 'invalid-value',
    path: pointerTo(path, 'maxUnavailable'),
    message: `Expected a number from 1 on, or a percentage from "1%" to "100%", found ${found(value)}`,
  };
}

function isAmount(value: unknown): boolean {
  if (typeof value === 'number') return value >= 1;
  // What is neither a number nor a text has been reported.
  if (typeof value !== 'string') return true;
  const percent = /^(\d{1,3})%$/.exec(value)?.[1];
  return percent !== undefined && Number(percent) >= 1 && Number(percent) <= 100;
}
