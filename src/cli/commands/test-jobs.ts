import { type DefinitionManifest, diagnosticText, type ManifestCheck } from '#check';
import { createOperatorTestParser, type Diagnostic, type OperatorTest } from '#definition';
import {
  type CollectedCoverage,
  type CoverageCollector,
  type RunTestOptions,
  resultLines,
  runTest,
  TestChecker,
  type TestFiles,
  type TestResult,
  updateTest,
} from '#testing';
import type { Output } from '../output.ts';
import { writeText } from './test-coverage.ts';
import { loadTestFiles, readText } from './test-files.ts';

/** Tests of one file, to run one after the other. Plain data. */
export interface TestJob {
  readonly kind: 'test';
  readonly file: string;
  readonly text: string;
  readonly names: readonly string[];
  /** Writes found values into expectations that fail. */
  readonly update: boolean;
  readonly hasCoverage: boolean;
  /** Whether the tests may name files outside of their tree. */
  readonly allowsOutside: boolean;
}

export interface TestJobResult {
  readonly kind: 'test';
  readonly results: readonly TestResult[];
  /** Mistakes in the tests and in the files that they use. */
  readonly diagnostics: readonly Diagnostic[];
  /** All files that the results depend on. */
  readonly sources: readonly DefinitionManifest[];
  /** What was updated, a line for each step. */
  readonly updates: readonly string[];
  readonly coverage?: CollectedCoverage;
}

interface TestRunnerOptions {
  readonly check: ManifestCheck;
  readonly coverage: CoverageCollector;
}

/** Runs tests of definitions. */
export class TestRunner {
  readonly #coverage: CoverageCollector;
  readonly #check: ManifestCheck;
  /** By `allowsOutside`. */
  readonly #checkers = new Map<boolean, TestChecker>();
  readonly #parser = createOperatorTestParser();

  constructor({ check, coverage }: TestRunnerOptions) {
    this.#coverage = coverage;
    this.#check = check;
  }

  close(): void {
    for (const checker of this.#checkers.values()) checker.close();
  }

  #checkerOf(allowsOutside: boolean): TestChecker {
    const known = this.#checkers.get(allowsOutside);
    if (known !== undefined) return known;
    const checker = new TestChecker({ check: this.#check, load: loadTestFiles, allowsOutside });
    this.#checkers.set(allowsOutside, checker);
    return checker;
  }

  /** Ends between two steps when the signal aborts. @throws CliError when a file cannot be read. */
  async run(job: TestJob, signal?: AbortSignal): Promise<TestJobResult> {
    const { file, text, names, update, hasCoverage, allowsOutside } = job;
    const checker = this.#checkerOf(allowsOutside);
    const results: TestResult[] = [];
    const diagnostics: Diagnostic[] = [];
    const sources: DefinitionManifest[] = [{ file, text }];
    const updates: string[] = [];
    const options: RunTestOptions = {
      check: this.#check,
      ...(signal && { signal }),
      ...(hasCoverage && { coverage: this.#coverage.runs }),
    };
    const { tests } = this.#parser.parse(text, file);
    for (const test of tests.filter(({ name }) => names.includes(name))) {
      const checked = await checker.checkTest(test);
      sources.push(...checked.sources);
      diagnostics.push(...checked.diagnostics);
      const { files } = checked;
      if (files === undefined) results.push(notRun(titleOf(test), checked.diagnostics));
      else if (update) results.push(await this.#runAndUpdate(test, { files, options, updates }));
      else results.push(await runTest(test, files, options));
    }
    const coverage = hasCoverage ? { coverage: this.#coverage.take() } : {};
    return { kind: 'test', results, diagnostics, sources, updates, ...coverage };
  }

  /** A test ends at the first step that fails, so it runs again after each update until all steps hold or nothing can be updated. */
  async #runAndUpdate(
    test: OperatorTest,
    { files, options, updates }: UpdateOptions,
  ): Promise<TestResult> {
    const { file } = test.source;
    let current = test;
    for (;;) {
      const result = await runTest(current, files, options);
      if (result.failures.length === 0) return result;
      const text = await readText(file);
      const updated = updateTest(text, result);
      const { tests } = this.#parser.parse(updated, file);
      const next = tests.find(({ name }) => name === test.name);
      if (updated === text || next === undefined) return result;
      await writeText(file, updated);
      updates.push(`Updated ${file}: step "${result.failures[0]?.step ?? ''}"`);
      current = next;
    }
  }
}

interface UpdateOptions {
  readonly files: TestFiles;
  readonly options: RunTestOptions;
  /** Receives a line for each update. */
  readonly updates: string[];
}

/** The result of a test that does not run because of mistakes in files, which are printed. */
export function notRun(
  test: Pick<TestResult, 'file' | 'name' | 'steps'>,
  diagnostics: readonly Diagnostic[],
): TestResult {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [message = 'A file has errors'] = errors.map(diagnosticText);
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return failedTest(test, `${message}${more}`);
}

export function printResult(result: TestResult, output: Output): void {
  for (const line of resultLines(result, output)) output.print(line, 'colored');
}

/** A test in its result. */
export function titleOf({ source, name, steps }: OperatorTest) {
  return { file: source.file, name, steps: steps.length };
}

/** The result of a test that failed before its first step. */
export function failedTest(
  test: Pick<TestResult, 'file' | 'name' | 'steps'>,
  message: string,
): TestResult {
  const failures = [{ pointer: '', message, mismatches: [] }];
  return { ...test, failures, tookMs: 0 };
}
