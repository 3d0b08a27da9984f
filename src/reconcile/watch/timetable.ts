import type { Priority } from '../../controller/index.ts';
import type { ScheduleDefinition } from '../../definition/index.ts';
import type { Clock } from '../../util/clock.ts';
import { type CronSchedule, parseCron } from '../../util/cron.ts';
import type { Random } from '../../util/random.ts';

interface TimetableOptions {
  readonly schedule: ScheduleDefinition | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** All resources. */
  readonly keys: () => Iterable<string>;
  readonly enqueue: (key: string, priority: Priority) => void;
}

/** Part of `every` by which an interval is shortened at random, so that reconciles are spread. */
const jitter = 0.1;
/** Maximum length of a timer: the wall clock may be changed, and a machine may sleep. */
const maxTimerMs = 60_000;

/**
 * Enqueues resources at their scheduled times: `schedule.every` and `requeueAfter` for each resource, `schedule.cron` for all. Nothing is
 * stored: after a restart every resource is reconciled anyway.
 */
export class Timetable {
  readonly #options: TimetableOptions;
  readonly #cron: CronSchedule | undefined;
  readonly #every = new Map<string, () => void>();
  readonly #again = new Map<string, () => void>();
  #cancelCron: (() => void) | undefined;

  constructor(options: TimetableOptions) {
    const { schedule } = options;
    this.#options = options;
    this.#cron = schedule?.cron && parseCron(schedule.cron.expression, schedule.cron.timeZone);
  }

  /** Starts the timers. */
  start(): void {
    const { clock } = this.#options;
    const dueMs = this.#cron?.nextMs(clock.nowMs());
    if (dueMs !== undefined) this.#await(dueMs);
  }

  /** After the start of a reconcile: the next one is due after `every`. */
  began(key: string): void {
    const { schedule, clock, random, enqueue } = this.#options;
    if (schedule?.everyMs === undefined) return;
    this.#every.get(key)?.();
    const delayMs = schedule.everyMs * (1 - jitter * random.fraction());
    this.#every.set(
      key,
      clock.after(delayMs, () => enqueue(key, 'low')),
    );
  }

  /** Sets the `requeueAfter` of a resource. Undefined: none. */
  runAgain(key: string, afterMs: number | undefined): void {
    this.#again.get(key)?.();
    this.#again.delete(key);
    if (afterMs === undefined) return;
    const { clock, enqueue } = this.#options;
    this.#again.set(
      key,
      clock.after(afterMs, () => enqueue(key, 'normal')),
    );
  }

  forget(key: string): void {
    for (const timers of [this.#every, this.#again]) {
      timers.get(key)?.();
      timers.delete(key);
    }
  }

  stop(): void {
    this.#cancelCron?.();
    for (const timers of [this.#every, this.#again]) {
      for (const cancel of timers.values()) cancel();
      timers.clear();
    }
  }

  /** Checks the time, not the timer: a timer may fire early, and the clock may have been changed. */
  #await(dueMs: number): void {
    const { clock } = this.#options;
    const delayMs = Math.min(Math.max(dueMs - clock.nowMs(), 1), maxTimerMs);
    this.#cancelCron = clock.after(delayMs, () => {
      if (clock.nowMs() < dueMs) return this.#await(dueMs);
      this.#runAll();
      this.start();
    });
  }

  #runAll(): void {
    for (const key of this.#options.keys()) this.#options.enqueue(key, 'low');
  }
}
