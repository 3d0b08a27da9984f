import { didYouMean } from '../../util/did-you-mean.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { fieldOf, itemsAt, mapsAt } from '../tree.ts';
import type { Rule } from './rule.ts';

/** `after` names other children of the list. */
export const checkAfter: Rule = function* (document) {
  const children = mapsAt(document, '/spec/children');
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
};
