import { availableParallelism } from 'node:os';
import { type JobOutcome, runInWorkers } from './job-pool.ts';
import { type Job, type JobResult, JobRunner } from './job-runner.ts';
import { workerEntry } from './test-worker.ts';

export interface JobsOptions<Of extends Job> {
  readonly jobs: readonly Of[];
  /** How many run at the same time. @default the number of processors, but at least two jobs for each: a thread takes a second to start */
  readonly size: number | undefined;
  readonly hasCoverage: boolean;
}

/**
 * Runs jobs in worker threads. Yields their outcomes in the order of the jobs. A single test runs in this thread, which takes less time;
 * it ends between two steps when the signal aborts.
 */
export async function* runAllJobs<Of extends Job, Result extends JobResult>(
  {
    jobs,
    size = Math.min(availableParallelism(), Math.ceil(jobs.length / 2)),
    hasCoverage,
  }: JobsOptions<Of>,
  signal: AbortSignal,
): AsyncGenerator<JobOutcome<Of, Result>, void, undefined> {
  if (Math.min(size, jobs.length) > 1 || jobs.some(({ kind }) => kind === 'fuzz')) {
    const entry = workerEntry();
    yield* runInWorkers<Of, Result>({ jobs, size, entry, workerData: { hasCoverage }, signal });
    return;
  }
  const runner = new JobRunner({ hasCoverage });
  try {
    for (const job of jobs) {
      if (signal.aborted) return;
      yield { kind: 'done', result: (await runner.run(job, signal)) as Result };
    }
  } finally {
    await runner.close();
  }
}
