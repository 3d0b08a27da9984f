import { pointerTo } from '../../util/json-pointer.ts';
import { walkStructure } from '../crd/schema-node.ts';
import type { Finding } from '../finding.ts';
import { fieldOf, mapsAt } from '../tree.ts';
import { schemaRootsOf } from './crd-versions-of.ts';
import type { Rule } from './rule.ts';

/** The texts of `x-kubernetes-validations` are as the API server wants them. The CEL in them is the server's to judge. */
export const checkCrdValidations: Rule = function* (document) {
  for (const root of schemaRootsOf(document)) {
    for (const node of walkStructure(root)) {
      for (const { value, path } of mapsAt(node.value, '/x-kubernetes-validations')) {
        yield* checkValidation(value, node.path + path);
      }
    }
  }
};

function* checkValidation(validation: unknown, path: string): Iterable<Finding> {
  const rule = fieldOf(validation, 'rule');
  const message = fieldOf(validation, 'message');
  if (typeof message === 'string' && message.trim().includes('\n')) {
    const found = 'Expected a message on one line, found a line break';
    yield { code: 'invalid-crd', path: pointerTo(path, 'message'), message: found };
  }
  if (typeof rule === 'string' && rule.trim().includes('\n') && message === undefined) {
    yield {
      code: 'invalid-crd',
      path: pointerTo(path, 'message'),
      at: 'parent-key',
      message: 'Missing field "message": a rule with line breaks needs one',
    };
  }
}
