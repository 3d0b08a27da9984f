import { pointerTo } from '#util/json.ts';
import { describeFound, mapsAt, valueAt } from '../tree.ts';
import type { Rule } from './rule.ts';

/** A path such as `spec.size` or `spec.ports[0].name`. */
const fieldPath = /^[A-Za-z_][\w-]*(?:\[\d*\])*(?:\.[A-Za-z_][\w-]*(?:\[\d*\])*)*$/;

/** What the schema cannot say of the rules for the API server. Their expressions are checked by `validate`. */
export const checkAdmission: Rule = function* (document) {
  if (valueAt(document, '/spec/admission') === undefined) return;
  if (valueAt(document, '/spec/controller/clusters') !== undefined)
    yield {
      code: 'invalid-value',
      path: '/spec/admission',
      at: 'key',
      message: 'A definition that runs in member clusters cannot have "admission"',
      hint: 'Write rules that look only at the object as "x-kubernetes-validations" in its schema',
    };
  for (const { value, path } of mapsAt(document, '/spec/admission/rules')) {
    const { rule, message, field } = value;
    for (const [name, text] of Object.entries({ rule, message })) {
      if (typeof text !== 'string' || text.trim() !== '') continue;
      yield { code: 'invalid-value', path: pointerTo(path, name), message: `"${name}" is empty` };
    }
    if (typeof message === 'string' && message.trim().includes('\n'))
      yield {
        code: 'invalid-value',
        path: pointerTo(path, 'message'),
        message: 'Expected a message of one line, found a line break',
        hint: 'Kubernetes accepts no line breaks here',
      };
    if (typeof field === 'string' && !fieldPath.test(field))
      yield {
        code: 'invalid-value',
        path: pointerTo(path, 'field'),
        message: `Expected the path of a field such as "spec.size", found ${describeFound(field)}`,
      };
  }
};
