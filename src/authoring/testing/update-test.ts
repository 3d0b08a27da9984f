import { replaceValues, type ValueReplacement } from '#definition';
import { isJsonObject, type Json } from '#util/json.ts';
import { matcherOf } from './matchers.ts';
import type { StepFailure, TestResult } from './run-test.ts';

/**
 * Writes found values into the `object` and `status` expectations of a test. Everything else in the file stays as it is, comments included.
 * Fields that were not found and matchers are not changed.
 * @param text of the test's file.
 * @returns the same text when nothing can be updated.
 */
export function updateTest(
  text: string,
  { name, failures }: Pick<TestResult, 'name' | 'failures'>,
): string {
  const isMeant = (document: unknown) =>
    isJsonObject(document) &&
    document.kind === 'OperatorTest' &&
    isJsonObject(document.metadata) &&
    document.metadata.name === name;
  return replaceValues(text, isMeant, failures.flatMap(replacementsOf));
}

function replacementsOf({
  updatablePointer,
  mismatches,
}: StepFailure): readonly ValueReplacement[] {
  if (updatablePointer === undefined) return [];
  return mismatches
    .filter(({ expected, found }) => found !== undefined && matcherOf(expected) === undefined)
    .map(({ pointer, found }) => ({
      pointer: `${updatablePointer}${pointer}`,
      value: found as Json,
    }));
}
