import { type FieldSteps, parseFieldPath } from '#util/field-path.ts';
import { isHomeostatKey } from '#util/kube-object.ts';
import type { Finding } from '../finding.ts';
import { describeFound, itemsAt, mapsAt, valueAt } from '../tree.ts';
import { containsExpression, type Rule } from './rule.ts';

/** `fields.leave` has paths of fields that an update could change, and the object is updated. */
export const checkLeftFields: Rule = function* (document) {
  for (const { path } of mapsAt(document, '/spec/children')) {
    const leave = `${path}/fields/leave`;
    if (valueAt(document, leave) === undefined) continue;
    if (valueAt(document, `${path}/updateStrategy/type`) === 'OnDelete') {
      const message = '"fields.leave" has no effect with "type: OnDelete", which updates no object';
      yield { code: 'invalid-value', path: leave, at: 'key', message };
    }
    for (const { value, path: at } of itemsAt(document, leave)) {
      if (typeof value !== 'string') continue;
      const problem = problemOf(value);
      if (problem !== undefined) yield { ...problem, path: at };
    }
  }
};

type Problem = Pick<Finding, 'code' | 'message' | 'hint'>;

function problemOf(text: string): Problem | undefined {
  const code = 'invalid-value';
  if (containsExpression(text)) {
    const message = `A path of "leave" cannot be an expression, found ${describeFound(text)}`;
    return { code: 'forbidden-expression', message };
  }
  const steps = parseFieldPath(text);
  if (steps === undefined) {
    const message = `Expected the path of a field such as "spec.replicas", found ${describeFound(text)}`;
    const hint = /\[\d*\]/.test(text)
      ? 'Name an item of a list by its keys: "spec.template.spec.containers[name=web].image"'
      : 'Write a key with other characters in brackets: "metadata.annotations["example.com/a"]"';
    return { code, message, hint };
  }
  const reason = whyNot(steps);
  return reason === undefined
    ? undefined
    : { code, message: `"${text}" cannot be left: ${reason}` };
}

/** Why a field cannot be left. Undefined: it can. */
function whyNot(steps: FieldSteps): string | undefined {
  const [first, second, third] = steps;
  if (first === 'status') return 'the status of a child is not applied';
  if (first === 'apiVersion' || first === 'kind') return 'it identifies the object';
  if (first === 'metadata') {
    if (second === 'name' || second === 'namespace') return 'it identifies the object';
    if ((second !== 'labels' && second !== 'annotations') || typeof third !== 'string')
      return 'of the metadata only a label or an annotation can be left, each by its name';
    if (isHomeostatKey(third)) return 'Homeostat finds its objects by it';
  }
  const [before, last] = steps.slice(-2);
  if (
    typeof before === 'object' &&
    'keys' in before &&
    typeof last === 'string' &&
    last in before.keys
  )
    return 'it identifies the item of the list';
  return undefined;
}
