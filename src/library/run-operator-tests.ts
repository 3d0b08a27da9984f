import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkDefinitions, createManifestCheck, type ManifestCheck } from '../check/index.ts';
import { bundledSchemas } from '../compile/index.ts';
import { createOperatorTestParser, type OperatorTest } from '../definition/index.ts';
import { parseObjects } from '../dev/index.ts';
import {
  type TestResult as FoundResult,
  runTest,
  type StepFailure,
  type TestFiles,
} from '../simulation/index.ts';
import type {
  Diagnostic,
  RunTestsOptions,
  SourceFile,
  TestFailure,
  TestResult,
  TestRun,
} from './api.ts';
import { loadSources, loadTestSources } from './source-files.ts';

/** Runs tests as `homeostat test`. @throws Error for a path that cannot be read */
export async function runOperatorTests(
  tests: string | readonly (string | SourceFile)[],
  { filter = '' }: RunTestsOptions = {},
): Promise<TestRun> {
  const sources = await sourcesOfTests(typeof tests === 'string' ? [tests] : tests);
  const parser = createOperatorTestParser();
  const parsed = sources.map(({ file, text }) => parser.parse(text, file));
  const diagnostics: Diagnostic[] = parsed.flatMap((each) => each.diagnostics);
  const check = createManifestCheck(bundledSchemas());
  const results: TestResult[] = [];
  for (const test of parsed.flatMap((each) => each.tests)) {
    if (!test.name.includes(filter)) continue;
    const { files, errors } = await filesOf(test, check);
    if (errors.length === 0) results.push(resultOf(await runTest(test, files, { check })));
    else diagnostics.push(...errors.filter((error) => !isKnown(error, diagnostics)));
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

/** The files of a test, and the errors of its definitions. */
async function filesOf(
  { source, definitions }: OperatorTest,
  check: ManifestCheck,
): Promise<{ readonly files: TestFiles; readonly errors: readonly Diagnostic[] }> {
  const folder = dirname(source.file);
  const below = (path: string) => join(folder, path);
  const loaded = await loadSources((definitions ?? ['..']).map(below));
  const { diagnostics } = checkDefinitions(loaded, { schemas: bundledSchemas(), check });
  const files: TestFiles = {
    definitions: loaded,
    loadDefinitions: (path) => loadSources([below(path)]),
    loadObjects: async (path) => parseObjects(await readFile(below(path), 'utf8')),
  };
  return { files, errors: diagnostics.filter(({ severity }) => severity === 'error') };
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
    ...{ name, file },
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
