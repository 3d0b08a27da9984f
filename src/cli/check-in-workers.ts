import type { DefinitionManifest } from '../check/index.ts';
import type { Diagnostic } from '../definition/index.ts';
import { DefinitionValidator } from '../simulation/index.ts';
import { type CheckJob, type CheckJobResult, runCheckJob } from './check-jobs.ts';
import { runAllJobs } from './commands/run-jobs.ts';
import type { ValidDefinition } from './diagnostic-formats.ts';

/** So many files are checked as one job. */
const filesPerJob = 50;

/** Checks many definitions in worker threads. Undefined: a thread has ended, or the signal has aborted. */
export async function checkInWorkers(
  manifests: readonly DefinitionManifest[],
  signal: AbortSignal,
): Promise<
  | {
      readonly definitions: readonly ValidDefinition[];
      readonly diagnostics: readonly Diagnostic[];
    }
  | undefined
> {
  const jobs: CheckJob[] = [];
  for (let from = 0; from < manifests.length; from += filesPerJob)
    jobs.push({ kind: 'check', manifests: manifests.slice(from, from + filesPerJob) });
  const results: CheckJobResult[] = [];
  const running = { jobs, size: undefined, hasCoverage: false };
  for await (const outcome of runAllJobs<CheckJob, CheckJobResult>(running, signal)) {
    if (outcome.kind !== 'done') return undefined;
    results.push(outcome.result);
  }
  if (results.length < jobs.length) return undefined;
  return withConflicts(results, manifests);
}

/** Conflicts of definitions that different threads have checked: their files are checked again, together. */
function withConflicts(
  results: readonly CheckJobResult[],
  manifests: readonly DefinitionManifest[],
) {
  const definitions = results.flatMap((result) => result.definitions);
  const diagnostics = results.flatMap((result) => result.diagnostics);
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
  const validator = new DefinitionValidator();
  const own = manifests.filter(({ file }) => files.has(file));
  const again = runCheckJob({ kind: 'check', manifests: own }, validator);
  validator.close();
  return {
    definitions: [...definitions.filter(({ file }) => !files.has(file)), ...again.definitions],
    diagnostics: [...diagnostics.filter(({ file }) => !files.has(file)), ...again.diagnostics],
  };
}
