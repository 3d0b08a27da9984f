import { Worker } from 'node:worker_threads';
import { messageOf } from '#util/homeostat-error.ts';

export interface JobPoolOptions<Job, Result> {
  readonly jobs: readonly Job[];
  /** How many workers run at the same time. */
  readonly size: number;
  /** The file that a worker runs. */
  readonly entry: URL;
  /** What a worker receives when it starts. */
  readonly workerData: unknown;
  /**
   * Runs a job in this thread, which takes jobs beside the workers. It must give way often: a worker waits for this thread when it needs its
   * next job. @default only workers run jobs
   */
  readonly runHere?: (job: Job) => Promise<Result>;
  /** Ends all workers. */
  readonly signal: AbortSignal;
}

/** What became of a job. `died`: its worker ended; other jobs are not affected. `failed`: a file cannot be read, for example. */
export type JobOutcome<Job, Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'died'; readonly job: Job; readonly reason: string }
  | { readonly kind: 'failed'; readonly message: string; readonly hint: string | undefined };

/** What a worker sends for a job. */
export type JobAnswer<Result> = Exclude<JobOutcome<never, Result>, { readonly kind: 'died' }>;

/** Runs jobs in worker threads. Yields their outcomes in the order of the jobs. Ends early when the signal aborts. */
export async function* runInWorkers<Job, Result>(
  options: JobPoolOptions<Job, Result>,
): AsyncGenerator<JobOutcome<Job, Result>, void, undefined> {
  const pool = new JobPool<Job, Result>(options);
  try {
    for (const outcome of pool.start()) {
      const found = await outcome;
      if (found === undefined) return;
      yield found;
    }
  } finally {
    await pool.close();
  }
}

class JobPool<Job, Result> {
  readonly #options: JobPoolOptions<Job, Result>;
  readonly #workers = new Set<Worker>();
  readonly #outcomes: readonly PromiseWithResolvers<JobOutcome<Job, Result> | undefined>[];
  #next = 0;
  #isClosed = false;

  constructor(options: JobPoolOptions<Job, Result>) {
    this.#options = options;
    this.#outcomes = options.jobs.map(() => Promise.withResolvers());
  }

  /** The outcome of each job; undefined: it was not run to its end, because the signal has aborted. */
  start(): readonly Promise<JobOutcome<Job, Result> | undefined>[] {
    const { jobs, size, signal } = this.#options;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
    for (let count = 0; count < Math.min(size, jobs.length); count++) this.#startWorker();
    void this.#runHere();
    return this.#outcomes.map(({ promise }) => promise);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    await Promise.all([...this.#workers].map((worker) => worker.terminate()));
  }

  readonly #onAbort = () => {
    void this.close();
    for (const { resolve } of this.#outcomes) resolve(undefined);
  };

  /** A worker takes one job after the other. If it ends, a new one takes its place. */
  #startWorker(): void {
    if (this.#isClosed || this.#next >= this.#options.jobs.length) return;
    const { entry, workerData } = this.#options;
    const worker = new Worker(entry, { workerData });
    this.#workers.add(worker);
    let current = this.#give(worker);
    let reason: string | undefined;
    worker.on('message', (answer: JobAnswer<Result>) => {
      this.#outcomes[current]?.resolve(answer);
      current = this.#give(worker);
    });
    worker.on('error', (error: unknown) => {
      reason = messageOf(error);
    });
    worker.on('exit', (code) => {
      this.#workers.delete(worker);
      const job = this.#options.jobs[current];
      if (job !== undefined)
        this.#outcomes[current]?.resolve({
          kind: 'died',
          job,
          reason: reason ?? `exit code ${code}`,
        });
      this.#startWorker();
    });
  }

  /** Takes one job after the other in this thread. */
  async #runHere(): Promise<void> {
    const { jobs, runHere } = this.#options;
    while (runHere !== undefined && !this.#isClosed) {
      const index = this.#next;
      const job = jobs[index];
      if (job === undefined) return;
      this.#next += 1;
      const running = runHere(job);
      this.#outcomes[index]?.resolve(running.then((result) => ({ kind: 'done', result })));
      await running.catch(() => undefined);
    }
  }

  /** Sends the next job to a worker, or ends it. Returns the index of the job. */
  #give(worker: Worker): number {
    const index = this.#next;
    this.#next += 1;
    const job = this.#options.jobs[index];
    if (job === undefined) void worker.terminate();
    else worker.postMessage(job);
    return index;
  }
}
