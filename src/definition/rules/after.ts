import { didYouMean } from '../../util/did-you-mean.ts';
import type { Json } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, itemsAt, mapsAt } from '../tree.ts';
import { childLists } from './child-lists.ts';
import type { Rule } from './rule.ts';

/** `after` names other children of the list. */
export const checkAfter: Rule = function* (document) {
  for (const list of childLists) yield* checkList(document, list);
};

function* checkList(document: Json, list: string): Iterable<Finding> {
  const children = mapsAt(document, list);
  const ids = children.map(({ value }) => String(fieldOf(value, 'id')));
  for (const { value, path } of children) {
    const own = fieldOf(value, 'id');
    for (const { value: id, path: at } of itemsAt(document, pointerTo(path, 'after'))) {
      if (typeof id !== 'string') continue;
      if (id === own) {
        yield { code: 'cycle', path: at, message: `Child "${id}" cannot come after itself` };
      } else if (!ids.includes(id)) {
        const hint = didYouMean(
          id,
          ids.filter((known) => known !== own),
        );
        yield { code: 'unknown-name', path: at, message: `Unknown child "${id}"`, hint };
      }
    }
  }
}
