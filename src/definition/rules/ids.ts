import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, itemsAt, mapAt, mapsAt } from '../tree.ts';
import type { Rule } from './rule.ts';

const lists = ['/spec/reads', '/spec/children', '/spec/patches', '/spec/onDelete/children'];
const idPattern = /^[a-z][A-Za-z0-9]{0,39}$/;

/** Ids are identifiers and unique in their list. */
export const checkIds: Rule = function* (document) {
  for (const list of lists) {
    const seen = new Set<string>();
    for (const { value, path } of mapsAt(document, list)) {
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

function badId(id: string, path: string): Finding {
  const better = camelCase(id);
  return {
    code: 'invalid-name',
    path,
    message: `Expected a name in camelCase (a small letter, then at most 39 letters and digits), found ${found(id)}`,
    hint: idPattern.test(better) ? `Write "${better}"` : undefined,
  };
}

function camelCase(name: string): string {
  const camel = name.replaceAll(/[^A-Za-z0-9]+(.?)/g, (_match, next: string) => next.toUpperCase());
  return camel.charAt(0).toLowerCase() + camel.slice(1);
}

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
