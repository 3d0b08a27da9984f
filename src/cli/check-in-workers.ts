import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { DefinitionManifest } from '#check';
import type { Diagnostic } from '#definition';
import { type CheckJob, type CheckJobResult, CheckRunner, joined } from './check-jobs.ts';
import { runInWorkers } from './commands/job-pool.ts';
import { workerEntry } from './commands/test-worker.ts';
import type { ValidDefinition } from './diagnostic-formats.ts';

/** So many files are checked as one job. */
const filesPerJob = 20;

interface Found {
  readonly definitions: readonly ValidDefinition[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks many definitions in this thread and in others, one for each processor. Undefined: a thread has ended, or the signal has aborted. */
export async function checkInWorkers(
  manifests: readonly DefinitionManifest[],
  signal: AbortSignal,
): Promise<Found | undefined> {
  const jobs: CheckJob[] = [];
  for (let from = 0; from < manifests.length; from += filesPerJob)
    jobs.push({ kind: 'check', manifests: manifests.slice(from, from + filesPerJob) });
  const runner = new CheckRunner();
  try {
    const results: CheckJobResult[] = [];
    const outcomes = runInWorkers<CheckJob, CheckJobResult>({
      jobs,
      size: availableParallelism() - 1,
      entry: workerEntry(),
      workerData: { hasCoverage: false },
      runHere: (job) => checkHere(job, runner),
      signal,
    });
    for await (const outcome of outcomes) {
      if (outcome.kind !== 'done') return undefined;
      results.push(outcome.result);
    }
    if (results.length < jobs.length) return undefined;
    return withConflicts(results, manifests, runner);
  } finally {
    runner.close();
  }
}

/** Gives way after each file: another thread may wait for its next job. */
async function checkHere({ manifests }: CheckJob, runner: CheckRunner): Promise<CheckJobResult> {
  const found: CheckJobResult[] = [];
  for (const manifest of manifests) {
    found.push(runner.check([manifest]));
    await setImmediate();
  }
  return joined(found);
}

/** Conflicts of definitions in different files: these files are checked again, together. */
function withConflicts(
  results: readonly CheckJobResult[],
  manifests: readonly DefinitionManifest[],
  runner: CheckRunner,
): Found {
  const { definitions, diagnostics } = joined(results);
  const byKey = Map.groupBy(
    definitions.flatMap(({ file, conflictKeys }) => conflictKeys.map((key) => ({ file, key }))),
    ({ key }) => key,
  );
  const files = new Set(
    [...byKey.values()]
      .filter((same) => same.length > 1)
      .flatMap((same) => same.map((each) => each.file)),
  );
  if (files.size === 0) return { definitions, diagnostics };
  const again = runner.check(manifests.filter(({ file }) => files.has(file)));
  return {
    definitions: [...definitions.filter(({ file }) => !files.has(file)), ...again.definitions],
    diagnostics: [...diagnostics.filter(({ file }) => !files.has(file)), ...again.diagnostics],
  };
}
