import { pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, mapAt, mapsAt } from '../tree.ts';
import { childListPaths } from './namespaces.ts';
import type { Rule } from './rule.ts';

const lists = [['/spec/reads'], childListPaths, ['/spec/install'], ['/spec/patches']];

/** Ids are identifiers, unique within their list in expressions. */
export const checkIds: Rule = function* (document) {
  for (const list of lists) {
    const seen = new Set<string>();
    for (const { value, path } of list.flatMap((each) => mapsAt(document, each))) {
      const id = fieldOf(value, 'id');
      if (typeof id !== 'string') continue;
      const at = pointerTo(path, 'id');
      if (!idPattern.test(id)) yield badId(id, at);
      else if (seen.has(id)) {
        yield { code: 'duplicate-id', path: at, message: `Id "${id}" is used twice` };
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
    message: `Expected a name in camelCase (a lower-case letter, then at most 39 letters and digits), found ${describeFound(id)}`,
    hint: idPattern.test(better) ? `Write "${better}"` : undefined,
  };
}

/** Ids of children, reads and patches. */
const idPattern = /^[a-z][A-Za-z0-9]{0,39}$/;

/** Converts a name to camelCase: `my-service` becomes `myService`. */
function camelCase(name: string): string {
  const camel = name.replaceAll(/[^A-Za-z0-9]+(.?)/g, (_match, next: string) => next.toUpperCase());
  return camel.charAt(0).toLowerCase() + camel.slice(1);
}

/** Names of vars can be used in an expression without quotes. */
export const checkVarNames: Rule = function* (document) {
  for (const name of Object.keys(mapAt(document, '/spec/vars'))) {
    if (/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(name)) continue;
    const better = camelCase(name);
    yield {
      code: 'invalid-name',
      path: pointerTo('/spec/vars', name),
      at: 'key',
      message: `Expected a name of at most 40 letters, digits and "_", found ${describeFound(name)}`,
      hint: idPattern.test(better) ? `Write "${better}"` : undefined,
    };
  }
};
