import type { Clock } from '#util/clock.ts';
import { type CronSchedule, parseCron } from '#util/cron.ts';

interface CronTimerOptions {
  readonly cron: { readonly expression: string; readonly timeZone: string } | undefined;
  readonly clock: Clock;
  /** Called at each time of the schedule. */
  readonly onDue: () => void;
}

/** Maximum length of a timer: the wall clock may be changed, and a machine may sleep. */
const maxTimerMs = 60_000;

/** `schedule.cron`. Nothing is stored: after a restart every resource is reconciled anyway. */
export class CronTimer {
  readonly #options: CronTimerOptions;
  readonly #cron: CronSchedule | undefined;
  #cancel: (() => void) | undefined;

  constructor(options: CronTimerOptions) {
    const { cron } = options;
    this.#options = options;
    this.#cron = cron && parseCron(cron.expression, cron.timeZone);
  }

  start(): void {
    const dueMs = this.#cron?.nextMs(this.#options.clock.nowMs());
    if (dueMs !== undefined) this.#await(dueMs);
  }

  stop(): void {
    this.#cancel?.();
  }

  /** Checks the time, not the timer: a timer may fire early, and the clock may have been changed. */
  #await(dueMs: number): void {
    const { clock, onDue } = this.#options;
    const delayMs = Math.min(Math.max(dueMs - clock.nowMs(), 1), maxTimerMs);
    this.#cancel = clock.after(delayMs, () => {
      if (clock.nowMs() < dueMs) return this.#await(dueMs);
      onDue();
      this.start();
    });
  }
}
