import { pointerTo } from '../../util/json-pointer.ts';
import { walkStructure } from '../crd/schema-node.ts';
import { fieldOf } from '../tree.ts';
import { schemaRootsOf } from './crd-versions-of.ts';
import type { Rule } from './rule.ts';

/** Regular expressions of a CRD's schema are RE2, which has no look-around and no back-references. */
export const checkCrdPatterns: Rule = function* (document) {
  for (const root of schemaRootsOf(document)) {
    for (const node of walkStructure(root)) {
      const pattern = fieldOf(node.value, 'pattern');
      if (typeof pattern !== 'string') continue;
      const refused = /\(\?<?[=!]|\\[1-9]/.exec(pattern.replaceAll('\\\\', ''))?.[0];
      if (refused === undefined) continue;
      yield {
        code: 'invalid-crd',
        path: pointerTo(node.path, 'pattern'),
        message: `Regular expressions of the API server have no look-around and no back-references, found "${refused}"`,
        hint: 'Use "x-kubernetes-validations"',
      };
    }
  }
};
