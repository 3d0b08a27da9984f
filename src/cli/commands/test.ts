import { basename, dirname } from 'node:path';
import type { DefinitionManifest } from '#check';
import { createOperatorTestParser, type OperatorTest } from '#definition';
import { junitReport, readTestSources, summaryLine, type TestResult } from '#testing';
import { createSystemClock } from '#util/clock.ts';
import { CliError, exitCode, printCliError } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { runAllJobs } from './run-jobs.ts';
import { runConversionTests, withConversions } from './test-conversions.ts';
import { type CoverageOptions, type CoverageRun, coverageOf, writeText } from './test-coverage.ts';
import { filesWith, loadTestFiles } from './test-files.ts';
import {
  failedTest,
  notRun,
  printResult,
  type TestJob,
  type TestJobResult,
  titleOf,
} from './test-jobs.ts';
import { testOnCluster } from './test-on-cluster.ts';
import { watchFiles } from './watch-files.ts';

export interface TestOptions extends CoverageOptions {
  /** Runs only tests whose name contains this. */
  readonly filter?: string;
  /** File for the results as JUnit XML. */
  readonly junit?: string;
  /** Writes found values into expectations that fail. @default false */
  readonly update?: boolean;
  /** How many tests run at the same time. @default the number of processors */
  readonly jobs?: number;
  /** Runs tests again whose files have changed, until the signal aborts. @default false */
  readonly watch?: boolean;
  /** Tests may name files outside of their tree. @default false */
  readonly outsideFiles?: boolean;
  /** Of the objects that tests of conversions generate. @default 1 */
  readonly seed?: number;
  /** A real cluster in place of simulated ones. */
  readonly kubeconfig?: string;
  readonly context?: string;
}

/**
 * `homeostat test PATH...`: runs the tests in files and folders, each on a cluster of its own with simulated time, and the generated tests of
 * definitions with conversions that are there or that tests use.
 * @returns the exit code: 1 when a test failed or a file has errors, 0 when all have passed.
 * @throws CliError when there is no test, or a file cannot be read.
 */
export async function test(
  paths: readonly string[],
  options: TestOptions,
  output: Output,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  if (options.watch === true) return watchTests(paths, options, output, signal);
  const loaded = await loadTests(paths, options, output);
  for (const each of loaded.rejected) printResult(each, output);
  const coverage = coverageOf(options);
  const isReal = options.kubeconfig !== undefined || options.context !== undefined;
  const used: DefinitionManifest[] = [];
  const noteUsed = (files: readonly DefinitionManifest[]) => void used.push(...files);
  const context = { flags: options, output, noteUsed };
  const ran =
    isReal && loaded.tests.length > 0
      ? await testOnCluster(loaded, context, signal)
      : await runTests(loaded, { options, output, coverage, noteUsed }, signal);
  const converted = withConversions([...loaded.definitions, ...used]);
  const proven = await runConversionTests(converted, options, output, used, signal);
  const results = [...loaded.rejected, ...ran, ...proven];
  if (results.length === 0 && !signal.aborted) throw noTest(paths, options);
  output.print(summaryLine(results));
  if (signal.aborted) output.error('homeostat: Stopped before all tests have run');
  if (options.junit !== undefined) await writeText(options.junit, junitReport(results));
  const isCovered = (await coverage?.report(output)) ?? true;
  const hasFailed = signal.aborted || results.some(({ failures }) => failures.length > 0);
  return hasFailed || !isCovered ? exitCode.failure : exitCode.ok;
}

/** An error in a file is printed, and the watch continues. */
async function watchTests(
  paths: readonly string[],
  options: TestOptions,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  // Each has all texts that the result of a test depends on.
  let before = new Map<string, string>();
  // What is printed already.
  let mistakes = '';
  let watched: readonly string[] = [];
  const printWaiting = () => output.print('Waiting for changes; Ctrl-C ends');
  const run = async (): Promise<readonly string[]> => {
    const printed: string[] = [];
    const collecting = { ...output, error: (text: string) => void printed.push(text) };
    const loaded = await loadTests(paths, options, collecting).catch((error: unknown) => {
      if (!(error instanceof CliError)) throw error;
      printCliError(error, collecting);
      return undefined;
    });
    const known = mistakes;
    mistakes = printed.join('\n');
    if (mistakes !== '' && mistakes !== known) output.error(mistakes);
    const places = loaded?.files.map(({ file }) => file) ?? [];
    const folders = [...paths, ...places.map((file) => dirname(file)), ...paths.map(dirname)];
    if (loaded === undefined) {
      if (mistakes !== known) printWaiting();
      return [...folders, ...watched];
    }
    // A test that cannot be read names no other folders.
    if (loaded.rejected.length > 0) folders.push(...watched);
    const now = new Map<string, string>();
    const used: DefinitionManifest[] = [];
    for (const each of loaded.tests) {
      const sources = await readTestSources(each, loadTestFiles, outsideOf(options));
      now.set(keyOf(each), JSON.stringify([each.document, sources.manifests]));
      folders.push(...sources.folders);
      used.push(...sources.manifests);
    }
    const converted = withConversions([...loaded.definitions, ...used]);
    for (const { file, text } of converted) now.set(file, text);
    const changed = converted.filter(({ file, text }) => before.get(file) !== text);
    const affected = loaded.tests.filter(
      (each) => now.get(keyOf(each)) !== before.get(keyOf(each)),
    );
    before = now;
    watched = folders;
    const rejected = mistakes === known ? [] : loaded.rejected;
    for (const each of rejected) printResult(each, output);
    const ran = await runTests({ ...loaded, tests: affected }, { options, output }, signal);
    const proven = await runConversionTests(changed, options, output, used, signal);
    if (signal.aborted) return folders;
    const results = [...rejected, ...ran, ...proven];
    if (results.length > 0) output.print(summaryLine(results));
    if (affected.length + proven.length > 0 || mistakes !== known) printWaiting();
    return folders;
  };
  await watchFiles({ clock: createSystemClock(), output, run }, signal);
  return exitCode.ok;
}

function keyOf({ source, name }: OperatorTest): string {
  return `${source.file}\0${name}`;
}

interface RunContext {
  readonly options: TestOptions;
  readonly output: Output;
  readonly coverage?: CoverageRun | undefined;
  /** Receives the files that a test has used. @default none */
  noteUsed?(files: readonly DefinitionManifest[]): void;
}

/** Runs tests, and prints the result of each in the order of the tests. */
async function runTests(
  { tests, files }: LoadedTests,
  { options, output, coverage, noteUsed }: RunContext,
  signal: AbortSignal,
): Promise<readonly TestResult[]> {
  const jobs = jobsOf(tests, files, {
    update: options.update === true,
    hasCoverage: coverage !== undefined,
    ...outsideOf(options),
  });
  const results: TestResult[] = [];
  const running = { jobs, size: options.jobs, hasCoverage: coverage !== undefined };
  const showProgress = () => output.progress?.(`${results.length} of ${tests.length} tests`);
  showProgress();
  for await (const outcome of runAllJobs<TestJob, TestJobResult>(running, signal)) {
    if (outcome.kind === 'failed')
      throw new CliError(outcome.message, outcome.hint === undefined ? {} : { hint: outcome.hint });
    const found = outcome.kind === 'done' ? outcome.result.results : died(outcome, tests);
    if (outcome.kind === 'done') {
      const { diagnostics, sources, updates } = outcome.result;
      printDiagnostics(diagnostics, sources, output);
      for (const line of updates) output.print(line);
      coverage?.noteFiles(sources);
      noteUsed?.(sources);
      if (outcome.result.coverage !== undefined) coverage?.collector.add(outcome.result.coverage);
    }
    results.push(...found);
    for (const result of found) printResult(result, output);
    showProgress();
  }
  return results;
}

function outsideOf({ outsideFiles = false }: TestOptions) {
  return { allowsOutside: outsideFiles };
}

/** One for each test. Updates of one file are one job: each changes the whole file. */
function jobsOf(
  tests: readonly OperatorTest[],
  files: readonly DefinitionManifest[],
  options: Pick<TestJob, 'update' | 'hasCoverage' | 'allowsOutside'>,
): readonly TestJob[] {
  const jobOf = (file: string, names: readonly string[]): TestJob => {
    const text = files.find((each) => each.file === file)?.text ?? '';
    return { kind: 'test', file, text, names, ...options };
  };
  if (!options.update) return tests.map(({ source, name }) => jobOf(source.file, [name]));
  const byFile = Map.groupBy(tests, ({ source }) => source.file);
  return [...byFile].map(([file, own]) =>
    jobOf(
      file,
      own.map(({ name }) => name),
    ),
  );
}

/** The tests of a job whose worker has ended. */
function died(
  { job, reason }: { readonly job: TestJob; readonly reason: string },
  tests: readonly OperatorTest[],
): readonly TestResult[] {
  return tests
    .filter(({ source, name }) => source.file === job.file && job.names.includes(name))
    .map((test) => failedTest(titleOf(test), `The worker of the test has ended: ${reason}`));
}

interface LoadedTests {
  readonly tests: readonly OperatorTest[];
  /** The files of the tests. */
  readonly files: readonly DefinitionManifest[];
  /** Files that may have definitions with conversions. */
  readonly definitions: readonly DefinitionManifest[];
  /** The results of those with mistakes. */
  readonly rejected: readonly TestResult[];
}

/** Prints the mistakes in tests. @throws CliError when there is no test that the options choose. */
async function loadTests(
  paths: readonly string[],
  options: TestOptions,
  output: Output,
): Promise<LoadedTests> {
  const parser = createOperatorTestParser();
  const { filter = '' } = options;
  const tests: OperatorTest[] = [];
  const read: DefinitionManifest[] = [];
  const rejected: TestResult[] = [];
  for (const path of paths) read.push(...(await filesWith(['OperatorTest', 'conversions'], path)));
  const definitions = withConversions(read);
  const files = read.filter(
    (each) => each.text.includes('OperatorTest') || !definitions.includes(each),
  );
  for (const { file, text } of files) {
    const parsed = parser.parse(text, file);
    printDiagnostics(parsed.diagnostics, files, output);
    tests.push(...parsed.tests);
    for (const { name, errors } of parsed.rejected)
      rejected.push(notRun({ file, name: name || basename(file), steps: 0 }, errors));
  }
  const chosen = tests.filter(({ name }) => name.includes(filter));
  const isEmpty = chosen.length + rejected.length + definitions.length === 0;
  // The definitions that tests use may have conversions.
  if (isEmpty && tests.length === 0) throw noTest(paths, options);
  return { tests: chosen, rejected, files, definitions };
}

function noTest(paths: readonly string[], { filter = '' }: TestOptions): CliError {
  return new CliError(
    filter === ''
      ? `There is no test in ${paths.join(', ')}`
      : `No test has a name with "${filter}"`,
    { hint: 'Tests are YAML documents with "kind: OperatorTest"' },
  );
}
