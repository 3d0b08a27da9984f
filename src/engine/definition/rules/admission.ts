import { pointerTo } from '#util/json.ts';
import { isLabelKey } from '#util/label-selector.ts';
import { defaultPathSteps, defaultPathText, listDefaultHint } from '../admission-path.ts';
import type { Finding } from '../finding.ts';
import { describeFound, mapAt, mapsAt, valueAt } from '../tree.ts';
import type { Rule } from './rule.ts';

/** A path such as `spec.size` or `spec.ports[0].name`. */
const fieldPath = /^[A-Za-z_][\w-]*(?:\[\d*\])*(?:\.[A-Za-z_][\w-]*(?:\[\d*\])*)*$/;

/** The policy names each of the parents several times, and the API server limits the length of its expressions. */
const maxSteps = 20;

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
  const { rules, defaults, action } = mapAt(document, '/spec/admission');
  if (rules === undefined && defaults === undefined)
    yield {
      code: 'missing-field',
      path: '/spec/admission',
      at: 'key',
      message: 'Expected "rules" or "defaults"',
    };
  if (action !== undefined && rules === undefined && defaults !== undefined)
    yield {
      code: 'invalid-value',
      path: '/spec/admission/action',
      at: 'key',
      message: '"action" is about "rules", and there are none',
    };
  yield* checkDefaults(document);
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

function* checkDefaults(document: Parameters<Rule>[0]): Generator<Finding> {
  const known: (readonly string[])[] = [];
  const selected = selectedKeys(document);
  for (const { value, path } of mapsAt(document, '/spec/admission/defaults')) {
    const { path: field, value: expression } = value;
    if (typeof expression === 'string' && expression.trim() === '')
      yield { code: 'invalid-value', path: pointerTo(path, 'value'), message: '"value" is empty' };
    if (typeof field !== 'string') continue;
    const found = pathProblem(field, known, selected);
    if (found !== undefined)
      yield { code: 'invalid-value', path: pointerTo(path, 'path'), ...found };
  }
}

type PathProblem = Pick<Finding, 'message' | 'hint'> | undefined;

/**
 * @param known the paths before, to which this one is added
 * @param selected see `selectedKeys`
 */
function pathProblem(
  path: string,
  known: (readonly string[])[],
  selected: ReadonlySet<string>,
): PathProblem {
  const steps = defaultPathSteps(path);
  if (steps === undefined)
    return /\[\d*\]/.test(path)
      ? { message: `A default cannot be in a list: "${path}"`, hint: listDefaultHint }
      : {
          message: `Expected the path of a field such as "spec.image" or "metadata.labels['example.com/tier']", found ${describeFound(path)}`,
        };
  if (steps.length > maxSteps)
    return { message: `A path has at most ${maxSteps} fields and keys, found ${steps.length}` };
  const text = defaultPathText(steps);
  const created = known.find((each) => steps.every((step, index) => each[index] === step));
  if (created?.length === steps.length) return { message: `There are two defaults for "${text}"` };
  if (created !== undefined)
    return {
      message: `"${text}" exists after the default for "${defaultPathText(created)}", so this one never applies`,
      hint: 'Write the default of a parent first',
    };
  known.push(steps);
  const [first = '', second = '', key = ''] = steps;
  if (first === 'metadata' && !(isOfUsers(second) && steps.length === 3))
    return {
      message: `Of "metadata", only a label or an annotation can have a default, found "${text}"`,
      hint: `Write "metadata.labels['key']"`,
    };
  if (['apiVersion', 'kind', 'status'].includes(first))
    return { message: `"${first}" cannot have a default` };
  if (first === 'metadata' && !isLabelKey(second === 'labels' ? key : key.toLowerCase()))
    return { message: `"${key}" is no valid key of ${second}` };
  if (selected.has(text))
    return {
      message: `The definition selects objects by "${text}": a default would change which`,
      hint: 'Use another label or annotation',
    };
  return undefined;
}

/** The paths of the labels and annotations by which a definition selects objects of a kind of others. */
function selectedKeys(document: Parameters<Rule>[0]): ReadonlySet<string> {
  const selectors = { labels: 'selector', annotations: 'annotationSelector' };
  return new Set(
    Object.entries(selectors).flatMap(([map, name]) =>
      [
        ...Object.keys(mapAt(document, `/spec/for/${name}/matchLabels`)),
        ...mapsAt(document, `/spec/for/${name}/matchExpressions`).map(({ value }) => value.key),
      ].map((key) => defaultPathText(['metadata', map, String(key)])),
    ),
  );
}

function isOfUsers(name: string): boolean {
  return name === 'labels' || name === 'annotations';
}
