import { didYouMean } from '#util/did-you-mean.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, itemsAt, type LocatedValue, mapsAt } from '../tree.ts';
import { manifestListPaths } from './namespaces.ts';
import type { Rule } from './rule.ts';

/** An entry of `after`. */
interface AfterEntry {
  /** Id of the other child. */
  readonly id: string;
  /** Must only the element with the same key be ready? */
  readonly isSame: boolean;
  /** Is it a map, not an id? */
  readonly isMap: boolean;
}

/** The entries of `after` of a child. */
export function afterEntriesOf(
  child: JsonObject,
  path: string,
): readonly LocatedValue<AfterEntry>[] {
  return itemsAt(child, '/after').flatMap(({ value, path: below }) => {
    const at = `${path}${below}`;
    if (typeof value === 'string')
      return { value: { id: value, isSame: false, isMap: false }, path: at };
    if (!isJsonObject(value) || typeof value.child !== 'string') return [];
    const isSame = value.element === 'same';
    return { value: { id: value.child, isSame, isMap: true }, path: at };
  });
}

/** `after` names other children of the same list; `element: same` requires `forEach` in both. */
export const checkAfter: Rule = function* (document) {
  for (const list of manifestListPaths) yield* checkList(document, list);
};

function* checkList(document: Json, list: string): Iterable<Finding> {
  const children = mapsAt(document, list);
  const lists = new Map(
    children.map(({ value }) => [fieldOf(value, 'id'), Object.hasOwn(value, 'forEach')] as const),
  );
  const ids = [...lists.keys()].map(String);
  for (const { value, path } of children) {
    const own = fieldOf(value, 'id');
    for (const { value: entry, path: at } of afterEntriesOf(value, path)) {
      const { id, isSame, isMap } = entry;
      if (id === own) {
        yield { code: 'cycle', path: at, message: `Child "${id}" cannot depend on itself` };
      } else if (!ids.includes(id)) {
        const hint = didYouMean(
          id,
          ids.filter((known) => known !== own),
        );
        const place = isMap ? pointerTo(at, 'child') : at;
        yield { code: 'unknown-name', path: place, message: `Unknown child "${id}"`, hint };
      } else if (isSame) yield* checkSame(entry, { own, lists, at });
    }
  }
}

interface SameEntry {
  /** Id of the child that waits. */
  readonly own: unknown;
  /** By id: does the child have `forEach`? */
  readonly lists: ReadonlyMap<unknown, boolean>;
  readonly at: string;
}

/** An element of a single object has no key. */
function* checkSame({ id }: AfterEntry, { own, lists, at }: SameEntry): Iterable<Finding> {
  const single = [own, id].find((each) => lists.get(each) === false);
  if (single === undefined) return;
  yield {
    code: 'invalid-value',
    path: pointerTo(at, 'element'),
    message: `"element: same" requires "forEach" in both children, but child "${String(single)}" has none`,
    hint: `Write "after: [${id}]"`,
  };
}
