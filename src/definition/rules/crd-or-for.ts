import { isJsonObject } from '../../util/json.ts';
import { valueAt } from '../tree.ts';
import type { Rule } from './rule.ts';

/** A definition serves one kind: a new one (`crd`) or one that exists (`for`). */
export const checkCrdOrFor: Rule = function* (document) {
  const spec = valueAt(document, '/spec');
  if (!isJsonObject(spec)) return;
  const hasCrd = Object.hasOwn(spec, 'crd');
  const hasFor = Object.hasOwn(spec, 'for');
  if (hasCrd && hasFor) {
    const message = 'A definition has "crd" or "for", found both';
    yield { code: 'invalid-value', path: '/spec/for', at: 'key', message };
  } else if (!hasCrd && !hasFor) {
    yield {
      code: 'missing-field',
      path: '/spec/crd',
      at: 'parent-key',
      message: 'Missing field "crd": a definition says which kind it serves',
    };
  }
};
