import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkDefinitions, createManifestCheck, type ManifestCheck } from '../../check/index.ts';
import { bundledSchemas } from '../../compile/index.ts';
import { createOperatorTestParser, type OperatorTest } from '../../definition/index.ts';
import { parseObjects } from '../../dev/index.ts';
import { fileReason } from '../../runtime/index.ts';
import {
  junitReport,
  type RunTestOptions,
  resultLines,
  runTest,
  summaryLine,
  type TestFiles,
  type TestResult,
  updateTest,
} from '../../simulation/index.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { type CoverageOptions, coverageOf, writeText } from './test-coverage.ts';

export interface TestOptions extends CoverageOptions {
  /** Runs only tests whose name contains this. */
  readonly filter?: string;
  /** File for the results as JUnit XML. */
  readonly junit?: string;
  /** Writes found values into expectations that fail. @default false */
  readonly update?: boolean;
}

/**
 * `homeostat test PATH...`: runs the tests in files and folders, each on a cluster of its own with simulated time.
 * @returns the exit code: 1 when a test failed or a file has errors, 0 when all have passed.
 * @throws CliError when there is no test, or a file cannot be read.
 */
export async function test(
  paths: readonly string[],
  options: TestOptions,
  output: Output,
): Promise<number> {
  const { tests, hasErrors } = await loadTests(paths, output);
  if (hasErrors) return exitCode.failure;
  const chosen = tests.filter(({ name }) => name.includes(options.filter ?? ''));
  if (chosen.length === 0)
    throw new CliError(
      tests.length === 0
        ? `There is no test in ${paths.join(', ')}`
        : `No test has a name with "${options.filter}"`,
      { hint: 'Tests are YAML documents with "kind: OperatorTest"' },
    );
  const results: TestResult[] = [];
  const coverage = coverageOf(options);
  const check = createManifestCheck(bundledSchemas(), coverage?.collector.files);
  const run: RunTestOptions = {
    check,
    ...(coverage && { coverage: coverage.collector.runs }),
  };
  for (const [index, each] of chosen.entries()) {
    output.progress?.(`Test ${index + 1} of ${chosen.length}: ${each.name}`);
    const files = await filesOf(each, check, output);
    if (files === undefined) return exitCode.failure;
    coverage?.noteFiles(files.definitions);
    const result = options.update
      ? await runAndUpdate(each, files, run, output)
      : await runTest(each, files, run);
    results.push(result);
    for (const line of resultLines(result, output)) output.print(line);
  }
  output.print(summaryLine(results));
  if (options.junit !== undefined) await writeText(options.junit, junitReport(results));
  const isCovered = (await coverage?.report(output)) ?? true;
  const hasFailed = results.some(({ failures }) => failures.length > 0);
  return hasFailed || !isCovered ? exitCode.failure : exitCode.ok;
}

/** A test ends at the first step that fails, so it runs again after each update until all steps hold or nothing can be updated. */
async function runAndUpdate(
  test: OperatorTest,
  files: TestFiles,
  run: RunTestOptions,
  output: Output,
): Promise<TestResult> {
  const { file } = test.source;
  const parser = createOperatorTestParser();
  let current = test;
  for (;;) {
    const result = await runTest(current, files, run);
    if (result.failures.length === 0) return result;
    const text = await readText(file);
    const updated = updateTest(text, current, result.failures);
    const { tests } = parser.parse(updated, file);
    const next = tests.find(({ name }) => name === test.name);
    if (updated === text || next === undefined) return result;
    await writeText(file, updated);
    const step = result.failures[0]?.step ?? '';
    output.print(`Updated ${file}: step "${step}"`);
    current = next;
  }
}

interface LoadedTests {
  readonly tests: readonly OperatorTest[];
  readonly hasErrors: boolean;
}

async function loadTests(paths: readonly string[], output: Output): Promise<LoadedTests> {
  const parser = createOperatorTestParser();
  const tests: OperatorTest[] = [];
  let hasErrors = false;
  for (const path of paths)
    for (const file of await testFiles(path)) {
      const text = await readText(file);
      const parsed = parser.parse(text, file);
      printDiagnostics(parsed.diagnostics, [{ file, text }], output);
      hasErrors ||= parsed.diagnostics.some(({ severity }) => severity === 'error');
      tests.push(...parsed.tests);
    }
  return { tests, hasErrors };
}

/** A file, or all YAML and JSON files below a folder that hold a test. */
async function testFiles(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const entries = await readdir(path, { withFileTypes: true, recursive: true });
    const files = entries
      .filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => !/(?:^|\/)(?:\.[^./]|node_modules\/)/.test(file))
      .sort();
    const texts = await Promise.all(files.map(readText));
    return files.filter((_, index) => /\bOperatorTest\b/.test(texts[index] ?? ''));
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The files of a test; undefined where its definitions have errors, which are printed. */
async function filesOf(
  { source, definitions }: OperatorTest,
  check: ManifestCheck,
  output: Output,
): Promise<TestFiles | undefined> {
  const folder = dirname(source.file);
  const paths = (definitions ?? ['..']).map((path) => join(folder, path));
  const texts = await loadManifests(paths);
  const { diagnostics } = checkDefinitions(texts, { schemas: bundledSchemas(), check });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  printDiagnostics(errors, texts, output);
  if (errors.length > 0) return undefined;
  return {
    definitions: texts,
    loadDefinitions: (path) => loadManifests([join(folder, path)]),
    loadObjects: async (path) => parseObjects(await readText(join(folder, path))),
  };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(path: string, error: unknown): CliError {
  return new CliError(`Cannot read "${path}": ${fileReason(error)}`, { cause: error });
}
