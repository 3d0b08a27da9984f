import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { ImportReport } from '../import-report.ts';
import { expressionText } from '../template-text.ts';
import type { ComposedTemplate } from './composition.ts';
import { jsonataPath, parseFieldPath } from './field-path.ts';

/** `ready` of a child. Undefined: the rules of its kind. */
export function convertReadiness(
  { readinessChecks, label, pointer }: ComposedTemplate,
  isBuiltin: boolean,
  report: ImportReport,
): string | true | undefined {
  if (readinessChecks.length === 0)
    return isBuiltin ? undefined : expressionText(conditionTest('Ready', 'True'));
  const tests = readinessChecks.flatMap((check, index) => {
    const place = {
      name: `${label}.readinessChecks[${index}]`,
      pointer: `${pointer}/readinessChecks/${index}`,
    };
    const test = testOf(check);
    if (test === undefined)
      report.leftOut(place, `The check "${String(check.type)}" is not known or not complete`);
    else report.converted(place);
    return test ?? [];
  });
  const own = tests.filter((test) => test !== 'true');
  if (own.length === 0) return true;
  return expressionText(own.join(' and '));
}

function conditionTest(type: string, status: string): string {
  return `$condition($child, "${type}").status = "${status}"`;
}

function testOf(check: JsonObject): string | undefined {
  const { type, fieldPath, matchCondition } = check;
  if (type === 'None') return 'true';
  if (type === 'MatchCondition')
    return isJsonObject(matchCondition)
      ? conditionTest(String(matchCondition.type), String(matchCondition.status))
      : undefined;
  const steps = parseFieldPath(String(fieldPath ?? ''));
  const path = steps && `$child.${jsonataPath(steps)}`;
  switch (type) {
    case 'NonEmpty':
      return path && `$exists(${path})`;
    case 'MatchString':
      return path && `${path} = ${JSON.stringify(check.matchString ?? '')}`;
    case 'MatchInteger':
      return path && `${path} = ${Number(check.matchInteger)}`;
    case 'MatchTrue':
      return path && `${path} = true`;
    case 'MatchFalse':
      return path && `${path} = false`;
    default:
      return undefined;
  }
}
