import { parseDurationMs } from '#util/duration.ts';
import { describeFound, valueAt } from '../tree.ts';
import { containsExpression, type Rule } from './rule.ts';

/** `deleteAfter` has a duration and a time that depends on the resource. */
export const checkDeleteAfter: Rule = function* (document) {
  const ttl = valueAt(document, '/spec/deleteAfter/ttl');
  const isLiteral = typeof ttl === 'string' && !containsExpression(ttl);
  if (isLiteral && parseDurationMs(ttl.trim()) === undefined) {
    const message = `Expected a duration such as "1h", or an expression that returns one, found ${describeFound(ttl)}`;
    yield { code: 'invalid-value', path: '/spec/deleteAfter/ttl', message };
  }
  const since = valueAt(document, '/spec/deleteAfter/since');
  if (typeof since !== 'string' || containsExpression(since)) return;
  const message = `Expected an expression that returns a time, found ${describeFound(since)}`;
  const hint = 'For example "${ status.finishedAt }"';
  yield { code: 'invalid-value', path: '/spec/deleteAfter/since', message, hint };
};
