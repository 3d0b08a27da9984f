import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '#util/homeostat-error.ts';
import { CliError } from '../exit-code.ts';
import type { JobAnswer } from './job-pool.ts';
import { type Job, type JobResult, JobRunner } from './job-runner.ts';

/** The file that a worker thread runs: it calls {@link serveJobs}. */
export function workerEntry(): URL {
  const isBundle = !import.meta.url.endsWith('.ts');
  return new URL(isBundle ? '../worker.mjs' : '../worker.ts', import.meta.url);
}

export interface TestWorkerData {
  readonly hasCoverage: boolean;
}

/** Runs the jobs that the main thread sends, one after the other, until it ends this thread. */
export function serveJobs(): void {
  invariant(parentPort !== null, 'Jobs are served in worker threads only');
  const port = parentPort;
  const runner = new JobRunner(workerData as TestWorkerData);
  port.on('message', (job: Job) => {
    void answerTo(runner, job).then((answer) => port.postMessage(answer));
  });
}

async function answerTo(runner: JobRunner, job: Job): Promise<JobAnswer<JobResult>> {
  try {
    return { kind: 'done', result: await runner.run(job) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { message, hint } = error;
    return { kind: 'failed', message, hint };
  }
}
