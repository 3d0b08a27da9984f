import type { ReconcileLimits } from '#definition';
import type { ByteSemaphore } from '#util/byte-semaphore.ts';
import { type TimeSlicer, unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { ExpressionError } from './evaluation-error.ts';

export interface WorkBudgetOptions {
  /** @default only the limits of each evaluation */
  readonly limits?: ReconcileLimits;
  /** Owner of the work; owners take turns. */
  readonly owner?: string;
  /** @default unlimitedTimeSlicer */
  readonly timeSlicer?: TimeSlicer;
  /** Memory shared by all reconciles. @default unlimited */
  readonly memory?: ByteSemaphore;
}

const noLimits: ReconcileLimits = {
  steps: Number.POSITIVE_INFINITY,
  memoryBytes: Number.POSITIVE_INFINITY,
  cpuMs: Number.POSITIVE_INFINITY,
};

/** A reconcile below this size does not reserve memory. Nearly all reconciles are below it. */
const unreservedBytes = 256 * 1024;
/** Steps between two checks of the clock: well below a millisecond. */
const stepsBetweenChecks = 512;

/**
 * Limits computation and memory of one reconcile. It counts steps and bytes, so that the result does not depend on
 * the load of the machine. Evaluations run sequentially. They pause regularly for the event loop and other
 * reconciles.
 */
export class WorkBudget {
  readonly #limits: ReconcileLimits;
  readonly #owner: string;
  readonly #turns: TimeSlicer;
  readonly #memory: ByteSemaphore | undefined;
  #stepsLeft: number;
  #stepsToCheck = stepsBetweenChecks;
  #rendered = 0;
  /** Bytes that the current evaluation has created. */
  #produced = 0;
  #workedMs = 0;
  /** Bytes reserved in the shared memory. */
  #reservedBytes = 0;
  #isExceeded = false;
  /** Number of unfinished runs, and the promise of the last one. */
  #pending = 0;
  #last: Promise<unknown> | undefined;

  constructor({
    limits = noLimits,
    owner = '',
    timeSlicer: turns = unlimitedTimeSlicer,
    memory,
  }: WorkBudgetOptions = {}) {
    this.#limits = limits;
    this.#owner = owner;
    this.#turns = turns;
    this.#memory = memory;
    this.#stepsLeft = limits.steps;
  }

  /** Whether a limit of steps, time or memory was exceeded. Such a reconcile should not be retried soon. */
  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  /** Counts steps before or after the work. @throws ExpressionError `budget-exceeded` */
  spend(steps: number): void {
    this.#stepsToCheck -= steps;
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw this.#exceeded();
  }

  /** Counts steps of work outside evaluations. Beyond the limit the next evaluation fails. */
  charge(steps: number): void {
    this.#stepsLeft -= steps;
  }

  /** Announces an upper bound of steps, so that the clock is checked in time. */
  expectSteps(steps: number): void {
    this.#stepsToCheck -= steps;
  }

  /**
   * Counts rendered bytes, which stay in memory until the reconcile ends. Also charges steps for measuring, comparing
   * and sending them.
   * @throws ExpressionError `too-large`, `budget-exceeded`
   */
  addRendered(bytes: number): void {
    this.#rendered += bytes;
    this.spend(bytes >> 8);
    if (this.#rendered <= unreservedBytes) return;
    if (this.#needsMemory) this.#stepsToCheck = 0;
    const { memoryBytes } = this.#limits;
    if (this.#rendered > memoryBytes) throw this.#memoryExceeded(memoryBytes);
  }

  /** Sets the bytes that the current evaluation has created so far. */
  setProduced(bytes: number): void {
    this.#produced = bytes;
    if (bytes > unreservedBytes && this.#needsMemory) this.#stepsToCheck = 0;
  }

  /** Whether to call {@link WorkBudget.pause}. Cheap. */
  get shouldPause(): boolean {
    return this.#stepsToCheck <= 0 && this.#checkTurn();
  }

  /** Between evaluations: yields to other reconciles and waits for memory. */
  async pause(): Promise<void> {
    await this.#waitForMemory();
    if (this.#turns.isExpired()) await this.#turns.yield(this.#owner);
  }

  /** As {@link WorkBudget.pause}, inside {@link WorkBudget.runExclusive}. */
  async interrupt(): Promise<void> {
    this.#noteWorked(this.#turns.release());
    await this.#waitForMemory();
    await this.#turns.acquire(this.#owner);
  }

  /** Runs work sequentially. The work must call {@link WorkBudget.interrupt} when {@link WorkBudget.shouldPause} is true. */
  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    const result = this.#pending === 1 ? this.#run(work) : this.#runAfter(this.#last, work);
    this.#last = result;
    return result;
  }

  /** Releases the reserved memory at the end of the reconcile. */
  release(): void {
    if (this.#reservedBytes > 0) this.#memory?.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  async #runAfter<T>(before: Promise<unknown> | undefined, work: () => Promise<T>): Promise<T> {
    // Its caller handles a failure.
    await before?.then(ignore, ignore);
    return this.#run(work);
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.acquire(this.#owner);
    if (turn !== undefined) await turn;
    try {
      return await work();
    } finally {
      this.#produced = 0;
      this.#pending -= 1;
      if (this.#pending === 0) this.#last = undefined;
      this.#noteWorked(this.#turns.release());
    }
  }

  #checkTurn(): boolean {
    if (this.#needsMemory) return true;
    this.#stepsToCheck = stepsBetweenChecks;
    return this.#turns.isExpired();
  }

  get #needsMemory(): boolean {
    if (this.#rendered + this.#produced <= unreservedBytes) return false;
    return this.#memory !== undefined && this.#reservedBytes === 0;
  }

  async #waitForMemory(): Promise<void> {
    if (!this.#needsMemory) return;
    const { memoryBytes } = this.#limits;
    // Set before waiting, to prevent a second reservation.
    this.#reservedBytes = memoryBytes;
    await this.#memory?.acquire(memoryBytes);
  }

  #noteWorked(ms: number): void {
    this.#workedMs += ms;
    if (this.#workedMs > this.#limits.cpuMs) this.#stepsLeft = -1;
  }

  #memoryExceeded(memoryBytes: number): ExpressionError {
    this.#isExceeded = true;
    const message = `Expected at most ${memoryBytes} bytes of rendered objects for the resource (controller.limits.memory)`;
    return new ExpressionError('too-large', message);
  }

  #exceeded(): ExpressionError {
    this.#isExceeded = true;
    const { steps, cpuMs } = this.#limits;
    return new ExpressionError(
      'budget-exceeded',
      this.#workedMs > cpuMs
        ? `Expected at most ${cpuMs} ms of CPU time in one reconcile (controller.limits.cpu)`
        : `Expected at most ${steps} evaluation steps in one reconcile (controller.limits.steps)`,
    );
  }
}

function ignore(): void {
  // Nothing to do.
}
