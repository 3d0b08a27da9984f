import { fieldOf, mapAt } from '../tree.ts';
import type { Rule } from './rule.ts';

/** A whole CustomResourceDefinition under `crd`, where its spec belongs. */
export const checkPastedCrd: Rule = function* (document) {
  const crd = mapAt(document, '/spec/crd');
  if (!isWholeCrd(crd)) return;
  yield {
    code: 'invalid-value',
    path: '/spec/crd',
    at: 'key',
    message: 'Expected the spec of a CustomResourceDefinition, found a whole one',
    hint: 'Paste what stands under its "spec"; "metadata" may hold labels and annotations',
  };
};

/** Its other findings would only repeat this one. */
export function isWholeCrd(crd: unknown): boolean {
  return fieldOf(crd, 'kind') === 'CustomResourceDefinition';
}
