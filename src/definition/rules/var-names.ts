import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import { mapAt } from '../tree.ts';
import { camelCase, idPattern } from './identifier.ts';
import type { Rule } from './rule.ts';

/** Names of vars can be written in an expression without quotes. */
export const checkVarNames: Rule = function* (document) {
  for (const name of Object.keys(mapAt(document, '/spec/vars'))) {
    if (/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(name)) continue;
    const better = camelCase(name);
    yield {
      code: 'invalid-name',
      path: pointerTo('/spec/vars', name),
      at: 'key',
      message: `Expected a name of at most 40 letters, digits and "_", found ${found(name)}`,
      hint: idPattern.test(better) ? `Write "${better}"` : undefined,
    };
  }
};
