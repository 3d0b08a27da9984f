import { resolve } from 'node:path';
import type { DefinitionManifest } from '#check';
import type { TestResult } from '#testing';
import { CliError } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import {
  type ConversionJob,
  type ConversionJobResult,
  mayHaveConversions,
} from './conversion-jobs.ts';
import { runAllJobs } from './run-jobs.ts';
import { failedTest, printResult } from './test-jobs.ts';

export interface ConversionTestOptions {
  /** Runs only those whose name contains this. */
  readonly filter?: string | undefined;
  /** @default 1 */
  readonly seed?: number | undefined;
  /** How many run at the same time. @default the number of processors */
  readonly jobs?: number | undefined;
}

/** The files that may have definitions with conversions, each once. */
export function withConversions(
  manifests: readonly DefinitionManifest[],
): readonly DefinitionManifest[] {
  const found = manifests.filter(mayHaveConversions);
  return [...new Map(found.map((each) => [resolve(each.file), each])).values()];
}

/**
 * Runs the generated tests of definitions with conversions, and prints the result of each.
 * @param used files that tests have used: their errors are printed already
 */
export async function runConversionTests(
  manifests: readonly DefinitionManifest[],
  { filter = '', seed = 1, jobs: size }: ConversionTestOptions,
  output: Output,
  used: readonly DefinitionManifest[],
  signal: AbortSignal,
): Promise<readonly TestResult[]> {
  const jobs = manifests.map(
    (manifest): ConversionJob => ({ kind: 'conversions', manifest, filter, seed }),
  );
  const printed = new Set(used.map(({ file }) => resolve(file)));
  const results: TestResult[] = [];
  const running = { jobs, size, hasCoverage: false };
  for await (const outcome of runAllJobs<ConversionJob, ConversionJobResult>(running, signal)) {
    if (outcome.kind === 'failed')
      throw new CliError(outcome.message, outcome.hint === undefined ? {} : { hint: outcome.hint });
    if (outcome.kind === 'done' && !printed.has(resolve(outcome.result.file)))
      printDiagnostics(outcome.result.diagnostics, manifests, output);
    const found =
      outcome.kind === 'done' ? outcome.result.results : [died(outcome.job, outcome.reason)];
    for (const result of found) printResult(result, output);
    results.push(...found);
  }
  return results;
}

function died({ manifest: { file } }: ConversionJob, reason: string): TestResult {
  const message = `The worker of the test has ended: ${reason}`;
  return failedTest({ file, name: 'conversions', steps: 0 }, message);
}
