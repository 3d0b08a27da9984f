import { isJsonObject, pointerTo } from '#util/json.ts';
import { mapAt, valueAt } from '../tree.ts';
import { checkKindLiteral } from './kind-literal.ts';
import type { Rule } from './rule.ts';
import { checkLiteralSelector } from './selector.ts';

/** `for` names an existing kind and selects its objects without expressions, which need a resource to evaluate against. */
export const checkForKind: Rule = function* (document) {
  const foreign = valueAt(document, '/spec/for');
  if (!isJsonObject(foreign)) return;
  for (const field of ['apiVersion', 'kind']) {
    if (Object.hasOwn(foreign, field)) {
      yield* checkKindLiteral({ parent: foreign, path: '/spec/for', field });
    }
  }
  for (const field of ['selector', 'annotationSelector'] as const) {
    yield* checkLiteralSelector(foreign[field], pointerTo('/spec/for', field), {
      what: 'The selector of "for"',
      insteadOfExpression:
        'Resources are selected before expressions are evaluated; use "when" to create a child conditionally',
      insteadOfEmpty: `Remove "${field}" to select all objects of the kind`,
      hasLabelValues: field === 'selector',
    });
  }
  if (Object.hasOwn(mapAt(document, '/spec'), 'crdPolicy')) {
    const message = '"crdPolicy" requires "crd"';
    yield { code: 'invalid-value', path: '/spec/crdPolicy', at: 'key', message };
  }
};
