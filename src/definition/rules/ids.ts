import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapsAt } from '../tree.ts';
import { childLists } from './child-lists.ts';
import { camelCase, idPattern } from './identifier.ts';
import type { Rule } from './rule.ts';

const lists = [['/spec/reads'], childLists, ['/spec/patches']];

/** Ids are identifiers and unique among what has the same name in expressions. */
export const checkIds: Rule = function* (document) {
  for (const list of lists) {
    const seen = new Set<string>();
    for (const { value, path } of list.flatMap((each) => mapsAt(document, each))) {
      const id = fieldOf(value, 'id');
      if (typeof id !== 'string') continue;
      const at = pointerTo(path, 'id');
      if (!idPattern.test(id)) yield badId(id, at);
      else if (seen.has(id)) {
        yield { code: 'duplicate-id', path: at, message: `Id "${id}" is there twice` };
      }
      seen.add(id);
    }
  }
};

function badId(id: string, path: string): Finding {
  const better = camelCase(id);
  return {
    code: 'invalid-name',
    path,
    message: `Expected a name in camelCase (a small letter, then at most 39 letters and digits), found ${found(id)}`,
    hint: idPattern.test(better) ? `Write "${better}"` : undefined,
  };
}
