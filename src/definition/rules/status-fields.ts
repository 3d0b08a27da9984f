import { pointerTo } from '../../util/json-pointer.ts';
import { standardStatusFields } from '../crd/standard-status.ts';
import { mapAt } from '../tree.ts';
import type { Rule } from './rule.ts';

/** `status` does not map what every pass writes. */
export const checkStatusFields: Rule = function* (document) {
  const status = mapAt(document, '/spec/status');
  for (const field of standardStatusFields) {
    if (!Object.hasOwn(status, field)) continue;
    yield {
      code: 'invalid-name',
      path: pointerTo('/spec/status', field),
      at: 'key',
      message: `"status.${field}" is always written by Homeostat and cannot be mapped`,
      hint:
        field === 'conditions'
          ? 'Conditions of your own stand under "spec.conditions"'
          : 'Choose another name',
    };
  }
};
