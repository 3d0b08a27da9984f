import { checkedOnce, createManifestCheck } from '#check';
import { bundledSchemas } from '#compile';
import { createOperatorTestParser } from '#definition';
import { type TestResult as FoundResult, runTest, type StepFailure, TestChecker } from '#testing';
import type {
  Diagnostic,
  RunTestsOptions,
  SourceFile,
  TestFailure,
  TestResult,
  TestRun,
} from './api.ts';
import { loadFiles, loadTestSources } from './source-files.ts';

/** Runs tests as `homeostat test`. @throws Error for a path that cannot be read */
export async function runOperatorTests(
  tests: string | readonly (string | SourceFile)[],
  { filter = '', outsideFiles = false }: RunTestsOptions = {},
): Promise<TestRun> {
  const sources = await sourcesOfTests(typeof tests === 'string' ? [tests] : tests);
  const parser = createOperatorTestParser();
  const parsed = sources.map(({ file, text }) => parser.parse(text, file));
  const diagnostics: Diagnostic[] = parsed.flatMap((each) => each.diagnostics);
  const check = checkedOnce(createManifestCheck(bundledSchemas()));
  const checker = new TestChecker({ check, load: loadFiles, allowsOutside: outsideFiles });
  const results: TestResult[] = [];
  try {
    for (const test of parsed.flatMap((each) => each.tests)) {
      if (!test.name.includes(filter)) continue;
      const { files, diagnostics: found } = await checker.checkTest(test);
      diagnostics.push(...found.filter((each) => !isKnown(each, diagnostics)));
      if (files !== undefined) results.push(resultOf(await runTest(test, files, { check })));
    }
  } finally {
    checker.close();
  }
  const hasErrors = diagnostics.some(({ severity }) => severity === 'error');
  const passed = !hasErrors && results.length > 0 && results.every((each) => each.passed);
  return { results, diagnostics, passed };
}

/** In folders only the files that have a test: definitions and samples may be beside them. */
async function sourcesOfTests(
  tests: readonly (string | SourceFile)[],
): Promise<readonly SourceFile[]> {
  const sources: SourceFile[] = [];
  for (const test of tests) {
    if (typeof test !== 'string') sources.push(test);
    else
      for (const source of await loadTestSources(test))
        if (source.file === test || /\bOperatorTest\b/.test(source.text)) sources.push(source);
  }
  return sources;
}

/** Several tests have the same definitions. */
function isKnown(one: Diagnostic, known: readonly Diagnostic[]): boolean {
  return known.some(
    ({ file, line, column, message }) =>
      file === one.file && line === one.line && column === one.column && message === one.message,
  );
}

function resultOf({ name, file, failures, tookMs }: FoundResult): TestResult {
  return {
    name,
    file,
    passed: failures.length === 0,
    failures: failures.map(failureOf),
    simulatedMs: tookMs,
  };
}

function failureOf({ step, position, message, mismatches }: StepFailure): TestFailure {
  return {
    ...(step !== undefined && { step }),
    message,
    ...(position ?? { line: 1, column: 1 }),
    mismatches: mismatches.map(({ pointer: path, expected, found }) => ({ path, expected, found })),
  };
}
