import { checkedOnce, createManifestCheck, type DefinitionManifest } from '#check';
import { bundledSchemas } from '#compile';
import type { OperatorTest } from '#definition';
import { KubeError } from '#kube';
import { RealClusterTests, TestChecker, type TestResult } from '#testing';
import { createSystemClock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';
import { CliError } from '../exit-code.ts';
import { type KubeconfigFlags, loadClusterConfig } from '../kubeconfig-flags.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { loadTestFiles } from './test-files.ts';
import { notRun, printResult, titleOf } from './test-jobs.ts';

interface ClusterTestContext {
  readonly flags: KubeconfigFlags & { readonly outsideFiles?: boolean };
  readonly output: Output;
  /** Receives the files that a test has used. */
  noteUsed(files: readonly DefinitionManifest[]): void;
}

/**
 * Runs tests on a real cluster, one after the other, and prints the result of each.
 * @throws CliError when the cluster cannot be reached, or rejects what the command needs.
 */
export async function testOnCluster(
  { tests }: { readonly tests: readonly OperatorTest[] },
  { flags, output, noteUsed }: ClusterTestContext,
  signal: AbortSignal,
): Promise<readonly TestResult[]> {
  const config = await loadClusterConfig(flags);
  const check = checkedOnce(createManifestCheck(bundledSchemas()));
  const allowsOutside = flags.outsideFiles ?? false;
  const checker = new TestChecker({ check, load: loadTestFiles, allowsOutside });
  const cluster = new RealClusterTests({
    config,
    check,
    clock: createSystemClock(),
    random: createSystemRandom(),
  });
  const results: TestResult[] = [];
  try {
    await cluster.connect(signal);
    for (const test of tests) {
      if (signal.aborted) break;
      output.progress?.(`Test ${results.length + 1} of ${tests.length}: ${test.name}`);
      const { files, diagnostics, sources } = await checker.checkTest(test);
      printDiagnostics(diagnostics, sources, output);
      noteUsed(sources);
      const result =
        files === undefined
          ? notRun(titleOf(test), diagnostics)
          : await cluster.run(test, files, signal);
      results.push(result);
      printResult(result, output);
    }
    return results;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new CliError(error.message, { cause: error });
  } finally {
    checker.close();
    await cluster.close().catch((error: unknown) => {
      output.error(`homeostat: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
}
