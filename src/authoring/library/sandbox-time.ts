import { setTimeout } from 'node:timers/promises';
import type { Simulation } from '#simulation';

/** How often the clock of a sandbox is set to the time of the machine, in ms. */
const tickMs = 5;

export interface SandboxTimeOptions {
  readonly simulation: Simulation;
  /** Whether time passes as on the machine. Otherwise only {@link SandboxTime.advance} moves it. */
  readonly followsSystem: boolean;
}

/**
 * Moves the clock of a simulation, one mover at a time. What is due at once happens without being awaited, because clients in other processes
 * cannot await it.
 */
export class SandboxTime {
  readonly #simulation: Simulation;
  readonly #followsSystem: boolean;
  readonly #ticker: NodeJS.Timeout | undefined;
  readonly #unsubscribe: () => void;
  #last: Promise<unknown> = Promise.resolve();
  #isRunningDue = false;

  constructor({ simulation, followsSystem }: SandboxTimeOptions) {
    this.#simulation = simulation;
    this.#followsSystem = followsSystem;
    this.#unsubscribe = simulation.sandbox.onChange(() => this.#runDue());
    // It keeps no process alive: a server or a pending promise does.
    this.#ticker = followsSystem ? setInterval(() => this.#runDue(), tickMs).unref() : undefined;
  }

  /** Resolves when all that is due has happened. */
  settle(): Promise<void> {
    return this.#alone(async () => {
      await this.#simulation.idle();
      await this.#runUntilNow();
    });
  }

  /** @throws Error if time passes as on the machine */
  async advance(ms: number): Promise<void> {
    if (this.#followsSystem)
      throw new Error(
        'Expected a sandbox with the fake clock: the system clock cannot be advanced',
      );
    await this.#alone(() => this.#simulation.advance(ms));
  }

  /** Lets time pass from timer to timer until the check returns a value. @throws Error after `withinMs` */
  async until<T>(
    check: () => T | Promise<T>,
    withinMs: number,
  ): Promise<Exclude<T, undefined | false>> {
    const { clock } = this.#simulation;
    const endMs = clock.monotonicMs() + withinMs;
    for (;;) {
      await this.settle();
      const found = await check();
      if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
      if (!(await this.#passTime(endMs)))
        throw new Error(`The expected state is not reached within ${withinMs} ms`);
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticker);
    this.#unsubscribe();
    await this.#last;
  }

  /** Lets a little time pass. False: the limit is reached. */
  async #passTime(endMs: number): Promise<boolean> {
    const { clock } = this.#simulation;
    if (!this.#followsSystem) return this.#alone(async () => clock.runNextTimer(endMs));
    await setTimeout(tickMs);
    return clock.monotonicMs() < endMs;
  }

  #runDue(): void {
    if (this.#isRunningDue) return;
    this.#isRunningDue = true;
    void this.#alone(async () => {
      this.#isRunningDue = false;
      await this.#runUntilNow();
    });
  }

  async #runUntilNow(): Promise<void> {
    const simulation = this.#simulation;
    const { clock } = simulation;
    const nowMs = () =>
      this.#followsSystem ? Math.max(Date.now(), clock.nowMs()) : clock.monotonicMs();
    while (clock.runNextTimer(nowMs())) await simulation.idle();
  }

  /** Work of one caller after the other. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
