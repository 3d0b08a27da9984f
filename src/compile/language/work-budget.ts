import type { ReconcileLimits } from '../../definition/index.ts';
import type { BytePool } from '../../util/byte-pool.ts';
import { endlessTurns, type Turns } from '../../util/work-turns.ts';
import { ExpressionError } from './expression-error.ts';

export interface WorkBudgetOptions {
  /** @default none but those of each evaluation */
  readonly limits?: ReconcileLimits;
  /** Whose work it is: owners take turns. */
  readonly owner?: string;
  /** @default endlessTurns */
  readonly turns?: Turns;
  /** What all reconciles may hold together. @default no bound */
  readonly memory?: BytePool;
}

const noLimits: ReconcileLimits = {
  steps: Number.POSITIVE_INFINITY,
  memoryBytes: Number.POSITIVE_INFINITY,
  cpuMs: Number.POSITIVE_INFINITY,
};

/** A reconcile that holds no more than this waits for nobody: nearly all of them. */
const freeBytes = 256 * 1024;
/** The clock is looked at after so many steps, well below a millisecond. */
const stepsBetweenLooks = 512;

/**
 * What one reconcile may still compute and hold. It counts steps and bytes, so that its end does not depend on the load of the machine.
 * Evaluations that take time run one after the other; in between and within them the event loop and other reconciles have their turn.
 */
export class WorkBudget {
  readonly #limits: ReconcileLimits;
  readonly #owner: string;
  readonly #turns: Turns;
  readonly #memory: BytePool | undefined;
  #stepsLeft: number;
  #stepsToLook = stepsBetweenLooks;
  #rendered = 0;
  /** Of the evaluation that is under way. */
  #produced = 0;
  #workedMs = 0;
  /** What it took of the memory of all. */
  #taken = 0;
  #isExceeded = false;
  /** Pieces of work that have not ended, and the last of them. */
  #inLine = 0;
  #last: Promise<unknown> | undefined;

  constructor({
    limits = noLimits,
    owner = '',
    turns = endlessTurns,
    memory,
  }: WorkBudgetOptions = {}) {
    this.#limits = limits;
    this.#owner = owner;
    this.#turns = turns;
    this.#memory = memory;
    this.#stepsLeft = limits.steps;
  }

  /** Has it used more steps, time or memory than it may? Then it is not to be repeated soon. */
  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  /** Counts work that is done or about to be. @throws ExpressionError `budget-exceeded` */
  spend(steps: number): void {
    this.#stepsToLook -= steps;
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw this.#exceeded();
  }

  /**
   * Counts what was rendered and is held until the reconcile ends. It costs steps, for it is measured, compared and sent.
   * @throws ExpressionError `too-large`, `budget-exceeded`
   */
  hold(bytes: number): void {
    this.#rendered += bytes;
    this.spend(bytes >> 8);
    if (this.#rendered <= freeBytes) return;
    if (this.#needsMemory) this.#stepsToLook = 0;
    const { memoryBytes } = this.#limits;
    if (this.#rendered > memoryBytes) throw this.#tooMuchHeld(memoryBytes);
  }

  /** Notes how much the evaluation that is under way has produced so far. */
  produced(bytes: number): void {
    this.#produced = bytes;
    if (bytes > freeBytes && this.#needsMemory) this.#stepsToLook = 0;
  }

  /** Should {@link WorkBudget.pause} be called? Cheap. */
  get isDue(): boolean {
    return this.#stepsToLook <= 0 && this.#look();
  }

  /** Between evaluations: lets others have their turn, and waits until there is memory. */
  async pause(): Promise<void> {
    await this.#waitForMemory();
    if (this.#turns.isOver()) await this.#turns.pause(this.#owner);
  }

  /** Within {@link WorkBudget.inTurn}: the same. */
  async interrupt(): Promise<void> {
    this.#noteWorked(this.#turns.leave());
    await this.#waitForMemory();
    await this.#turns.enter(this.#owner);
  }

  /** Does a piece of work that may take time and is to call {@link WorkBudget.interrupt} when it is due; one after the other. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#inLine += 1;
    const result = this.#inLine === 1 ? this.#run(work) : this.#runAfter(this.#last, work);
    this.#last = result;
    return result;
  }

  /** The reconcile has ended: gives back what it holds. */
  end(): void {
    if (this.#taken > 0) this.#memory?.give(this.#taken);
    this.#taken = 0;
  }

  async #runAfter<T>(before: Promise<unknown> | undefined, work: () => Promise<T>): Promise<T> {
    // Who asked for it handles its failure; here it has only ended.
    await before?.then(ignore, ignore);
    return this.#run(work);
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.enter(this.#owner);
    if (turn !== undefined) await turn;
    try {
      return await work();
    } finally {
      this.#produced = 0;
      this.#inLine -= 1;
      if (this.#inLine === 0) this.#last = undefined;
      this.#noteWorked(this.#turns.leave());
    }
  }

  #look(): boolean {
    if (this.#needsMemory) return true;
    this.#stepsToLook = stepsBetweenLooks;
    return this.#turns.isOver();
  }

  get #needsMemory(): boolean {
    if (this.#rendered + this.#produced <= freeBytes) return false;
    return this.#memory !== undefined && this.#taken === 0;
  }

  async #waitForMemory(): Promise<void> {
    if (!this.#needsMemory) return;
    const { memoryBytes } = this.#limits;
    // Noted before it waits: nobody takes twice.
    this.#taken = memoryBytes;
    await this.#memory?.take(memoryBytes);
  }

  #noteWorked(ms: number): void {
    this.#workedMs += ms;
    if (this.#workedMs > this.#limits.cpuMs) this.#stepsLeft = -1;
  }

  #tooMuchHeld(memoryBytes: number): ExpressionError {
    this.#isExceeded = true;
    const message = `Expected at most ${memoryBytes} bytes in all that is rendered for the resource (controller.limits.memory)`;
    return new ExpressionError('too-large', message);
  }

  #exceeded(): ExpressionError {
    this.#isExceeded = true;
    const { steps, cpuMs } = this.#limits;
    return new ExpressionError(
      'budget-exceeded',
      this.#workedMs > cpuMs
        ? `Expected at most ${cpuMs} ms of CPU time for the whole reconcile (controller.limits.cpu)`
        : `Expected at most ${steps} steps of evaluation in the whole reconcile (controller.limits.steps)`,
    );
  }
}

function ignore(): void {
  // Nothing to do.
}
