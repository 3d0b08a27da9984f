import { createPlainExpressionParser, PlainExpressionError } from '#compile';
import { describeFound, type Finding } from '#definition';
import { didYouMean } from '#util/did-you-mean.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { isJsonObject, type Json, pointerTo } from '#util/json.ts';
import { matcherNames } from '../matchers.ts';

/** Finds mistakes in the kind of an expression, such as one that is not served. */
type KindCheck = (kind: string) => readonly Finding[];

/** Checks the expressions and matchers of an expectation, and texts that are easily written as another type. Paths begin at the expectation. */
export function checkExpectedValues(expectation: Json, checkKind: KindCheck): readonly Finding[] {
  return [...valueFindings(expectation, '', checkKind), ...statusFindings(expectation)];
}

function* valueFindings(value: Json, path: string, checkKind: KindCheck): Generator<Finding> {
  if (typeof value === 'string') yield* expressionFindings(value, path, checkKind);
  if (typeof value !== 'object' || value === null) return;
  yield* matcherFindings(value, path);
  for (const [key, field] of Object.entries(value))
    if (field !== undefined) yield* valueFindings(field, pointerTo(path, key), checkKind);
}

function expressionFindings(text: string, path: string, checkKind: KindCheck): readonly Finding[] {
  try {
    const { paths = [] } = createPlainExpressionParser().parse(text) ?? {};
    return paths.flatMap(([root = '', kind]): readonly Finding[] => {
      if (root === 'objects')
        return kind === undefined ? [] : checkKind(kind).map((found) => ({ ...found, path }));
      const message = `Unknown name "${root}"`;
      const hint = 'Expressions of a test read objects: "objects.Deployment.web.status"';
      return [{ code: 'unknown-name', path, message, hint }];
    });
  } catch (error) {
    if (!(error instanceof PlainExpressionError)) throw error;
    const { message, problem } = error;
    const at = problem?.offset ?? 0;
    return [{ code: problem?.code ?? 'expression-syntax', path, message, at, hint: problem?.hint }];
  }
}

/** `{ $match: ... }`: a map with one field that begins with a dollar. */
function matcherFindings(value: object, path: string): readonly Finding[] {
  const [[name, argument] = ['', undefined], ...others] = Object.entries(value);
  if (others.length > 0 || !name.startsWith('$')) return [];
  const at = pointerTo(path, name);
  if (!matcherNames.includes(name)) {
    const hint = didYouMean(name, matcherNames);
    // It can be a field with such a name: `$ref`.
    if (hint === undefined) return [];
    return [
      { code: 'unknown-name', path: at, at: 'key', message: `Unknown matcher "${name}"`, hint },
    ];
  }
  const needsNumber = /^\$(?:gte?|lte?|length)$/.test(name);
  if (needsNumber && typeof argument !== 'number' && !isExpression(argument)) {
    const message = `Expected a number, found ${describeFound(argument)}`;
    return [{ code: 'wrong-type', path: at, message }];
  }
  const problem = name === '$match' ? patternProblem(String(argument)) : undefined;
  if (problem === undefined) return [];
  const message = `Expected a regular expression, found ${describeFound(argument)}`;
  return [{ code: 'invalid-value', path: at, message, hint: problem }];
}

function isExpression(value: unknown): boolean {
  return typeof value === 'string' && value.includes('${');
}

function patternProblem(pattern: string): string | undefined {
  if (isExpression(pattern)) return undefined;
  try {
    new RegExp(pattern, 'u');
    return undefined;
  } catch (error) {
    const text = messageOf(error);
    return text.replace(/^Invalid regular expression: .*\/u?: /, '');
  }
}

/** The status of a condition is a text; YAML reads `True` as a boolean. */
function statusFindings(expectation: Json): readonly Finding[] {
  const condition = isJsonObject(expectation) ? expectation.condition : undefined;
  const status = isJsonObject(condition) ? condition.status : undefined;
  if (typeof status !== 'boolean') return [];
  return [
    {
      code: 'wrong-type',
      path: '/condition/status',
      message: `Expected a string, found ${describeFound(status)}`,
      hint: `Quote it: "${status ? 'True' : 'False'}"`,
    },
  ];
}
