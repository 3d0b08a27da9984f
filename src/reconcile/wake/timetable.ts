import type { Priority } from '../../controller/index.ts';
import type { ScheduleDefinition } from '../../definition/index.ts';
import type { Clock } from '../../util/clock.ts';
import { type CronTimes, parseCron } from '../../util/cron.ts';
import type { Random } from '../../util/random.ts';

export interface TimetableOptions {
  readonly schedule: ScheduleDefinition | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** All resources. */
  readonly keys: () => Iterable<string>;
  readonly enqueue: (key: string, priority: Priority) => void;
}

/** `every` is spread over so much of it, to the short side: a resource runs at least as often as it says. */
const jitter = 0.1;
/** So often the clock on the wall is looked at: it may be set, and a machine may sleep. */
const longestLookMs = 60_000;

/**
 * Runs resources when their time has come: `schedule.every` and `requeueAfter` one by one, `schedule.cron` all of them. Nothing is
 * kept over a restart: every resource runs then anyway.
 */
export class Timetable {
  readonly #options: TimetableOptions;
  readonly #cron: CronTimes | undefined;
  readonly #every = new Map<string, () => void>();
  readonly #again = new Map<string, () => void>();
  #cancelCron: (() => void) | undefined;

  constructor(options: TimetableOptions) {
    const { schedule } = options;
    this.#options = options;
    this.#cron = schedule?.cron && parseCron(schedule.cron.expression, schedule.cron.timeZone);
  }

  /** The times of the clock begin to count. */
  start(): void {
    const { clock } = this.#options;
    const dueMs = this.#cron?.nextMs(clock.nowMs());
    if (dueMs !== undefined) this.#await(dueMs);
  }

  /** A pass has begun: the resource need not run before the next `every`. */
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

  /** A pass has said when the resource is to run again; undefined: not by itself. */
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

  /** A timer may fire a little early, and the clock may have moved meanwhile: the time is looked at, not the timer. */
  #await(dueMs: number): void {
    const { clock } = this.#options;
    const delayMs = Math.min(Math.max(dueMs - clock.nowMs(), 1), longestLookMs);
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
