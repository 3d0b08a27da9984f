import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextTurn } from '#util/next-turn.ts';
import { type JobOutcome, runInWorkers } from './job-pool.ts';

/** Answers each job with its double, a job of the same worker later than a short one; ends its thread, or never answers, on request. */
const entry = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort, workerData } from 'node:worker_threads';
  parentPort.on('message', (job) => {
    if (job === 'exit') process.exit(3);
    if (job === 'throw') throw new Error('no memory');
    if (job === 'hang') return;
    if (job === 'unreadable') return parentPort.postMessage({ kind: 'failed', message: 'Cannot read' });
    parentPort.postMessage({ kind: 'done', result: job * workerData.factor });
    if (workerData.done !== undefined) Atomics.add(workerData.done, 0, 1);
  });
`)}`,
);

type Job = number | 'exit' | 'throw' | 'hang' | 'unreadable';

async function outcomesOf(
  jobs: readonly Job[],
  signal: AbortSignal,
  onOutcome: () => void = () => {},
): Promise<readonly JobOutcome<Job, number>[]> {
  const outcomes: JobOutcome<Job, number>[] = [];
  const options = { jobs, size: 2, entry, workerData: { factor: 2 }, signal };
  for await (const outcome of runInWorkers<Job, number>(options)) {
    outcomes.push(outcome);
    onOutcome();
  }
  return outcomes;
}

describe('cli/job-pool', () => {
  const { signal } = new AbortController();

  test('outcomes have the order of the jobs', async () => {
    const jobs = [1, 2, 3, 4, 5, 6, 7];
    assert.deepEqual(
      await outcomesOf(jobs, signal),
      jobs.map((job) => ({ kind: 'done', result: job * 2 })),
    );
  });

  test('a worker that ends fails its own job only', async () => {
    assert.deepEqual(await outcomesOf([1, 'exit', 2, 'throw', 3, 'unreadable'], signal), [
      { kind: 'done', result: 2 },
      { kind: 'died', job: 'exit', reason: 'exit code 3' },
      { kind: 'done', result: 4 },
      { kind: 'died', job: 'throw', reason: 'no memory' },
      { kind: 'done', result: 6 },
      { kind: 'failed', message: 'Cannot read' },
    ]);
  });

  test('an abort ends all workers, also one that is busy', async () => {
    const stopper = new AbortController();
    const outcomes = await outcomesOf([1, 'hang', 2], stopper.signal, () => stopper.abort());
    assert.deepEqual(outcomes, [{ kind: 'done', result: 2 }]);
  });

  test('this thread takes jobs, too, and meanwhile the worker takes the others', async () => {
    const here: Job[] = [];
    const done = new Int32Array(new SharedArrayBuffer(4));
    const runHere = async (job: Job) => {
      here.push(job);
      while (Atomics.load(done, 0) < 5) await nextTurn();
      return 2 * Number(job);
    };
    const jobs = [1, 2, 3, 4, 5, 6];
    const workerData = { factor: 2, done };
    const outcomes: JobOutcome<Job, number>[] = [];
    const options = { jobs, size: 1, entry, workerData, runHere, signal };
    for await (const outcome of runInWorkers<Job, number>(options)) outcomes.push(outcome);
    assert.deepEqual(here, [2]);
    assert.deepEqual(
      outcomes,
      jobs.map((job) => ({ kind: 'done', result: job * 2 })),
    );
  });

  test('after an abort nothing is started', async () => {
    assert.deepEqual(await outcomesOf([1], AbortSignal.abort()), []);
  });
});
