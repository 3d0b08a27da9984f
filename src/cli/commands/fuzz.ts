import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { checkDefinitions, type DefinitionManifest } from '#check';
import { bundledSchemas } from '#compile';
import { type OperatorFuzz, parseOperatorFuzz } from '#definition';
import { loadSamples } from '#dev';
import type { KubeObject } from '#util/kube-object.ts';
import { exitCode } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import type { FuzzJob, FuzzJobResult } from './fuzz-jobs.ts';
import { runAllJobs } from './run-jobs.ts';
import { filesWith } from './test-files.ts';

export interface FuzzFlags {
  /** Number of histories for each definition. */
  readonly fuzz: number;
  readonly seed: number;
  /** Only definitions whose name contains this. */
  readonly filter?: string;
  /** How many definitions are tried at the same time. @default the number of processors */
  readonly jobs?: number;
}

/**
 * `homeostat test PATH... --fuzz N`: creates random resources of each definition, changes and deletes them, and checks what must hold for
 * every definition.
 * @returns the exit code: 1 when a history fails or a file has errors
 * @throws CliError when a file cannot be read, or there is no definition
 */
export async function fuzzDefinitions(
  paths: readonly string[],
  flags: FuzzFlags,
  output: Output,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  return fuzzClusters([paths], flags, output, signal);
}

/** Like {@link fuzzDefinitions}, for several clusters with the definitions of some paths each. */
export async function fuzzClusters(
  clusters: readonly (readonly string[])[],
  flags: FuzzFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const loaded: (readonly FuzzJob[] | undefined)[] = [];
  for (const paths of clusters) loaded.push(await jobsOf(paths, flags, output));
  const jobs = loaded.flatMap((each) => each ?? []);
  if (loaded.includes(undefined)) return exitCode.failure;
  let hasFailed = false;
  let done = 0;
  const showProgress = () => output.progress?.(`${done} of ${jobs.length} definitions`);
  showProgress();
  const running = { jobs, size: flags.jobs ?? availableParallelism(), hasCoverage: false };
  for await (const outcome of runAllJobs<FuzzJob, FuzzJobResult>(running, signal)) {
    hasFailed ||= outcome.kind !== 'done' || outcome.result.hasFailed;
    if (outcome.kind === 'done') for (const line of outcome.result.lines) output.print(line);
    else if (outcome.kind === 'died')
      output.print(`FAIL ${outcome.job.name}: its worker has ended: ${outcome.reason}`);
    else output.error(`homeostat: ${outcome.message}`);
    done++;
    showProgress();
  }
  if (signal.aborted) output.error('homeostat: Stopped before all histories have run');
  return hasFailed || signal.aborted ? exitCode.failure : exitCode.ok;
}

/** One job for each definition. Undefined: a file has errors, which are printed. */
async function jobsOf(
  paths: readonly string[],
  { fuzz: runs, seed, filter = '' }: FuzzFlags,
  output: Output,
): Promise<readonly FuzzJob[] | undefined> {
  const definitions = await loadManifests(paths);
  const schemas = bundledSchemas();
  const { accepted, diagnostics } = checkDefinitions(definitions, { schemas });
  printDiagnostics(diagnostics, definitions, output);
  const limits = await loadLimits(paths, output);
  if (accepted.length < definitions.length || limits === undefined) return undefined;
  const samples = await samplesBeside(definitions, output);
  return accepted
    .map(({ plan }) => plan.name)
    .filter((name) => name.includes(filter))
    .map((name): FuzzJob => {
      const own = limits.find(({ definition }) => definition === name);
      return {
        kind: 'fuzz',
        name,
        definitions,
        samples,
        runs,
        seed,
        ...(own && { limits: own }),
      };
    });
}

/** The samples in the folders `samples` beside the definitions. */
async function samplesBeside(
  definitions: readonly DefinitionManifest[],
  output: Output,
): Promise<readonly KubeObject[]> {
  const folders = new Set(definitions.map(({ file }) => join(dirname(file), 'samples')));
  const files = [];
  for (const folder of folders)
    files.push(...(await loadSamples(folder, (message) => output.error(`homeostat: ${message}`))));
  return files.flatMap(({ objects }) => objects.map(({ object }) => object));
}

/** The documents `OperatorFuzz` below the folders. Undefined: one has errors, which are printed. */
async function loadLimits(
  paths: readonly string[],
  output: Output,
): Promise<readonly OperatorFuzz[] | undefined> {
  const limits: OperatorFuzz[] = [];
  let hasErrors = false;
  for (const path of paths)
    for (const { file, text } of await filesWith(['OperatorFuzz'], path)) {
      const parsed = parseOperatorFuzz(text, file);
      printDiagnostics(parsed.diagnostics, [{ file, text }], output);
      hasErrors ||= parsed.diagnostics.some(({ severity }) => severity === 'error');
      limits.push(...parsed.limits);
    }
  return hasErrors ? undefined : limits;
}
